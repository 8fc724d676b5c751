#include "dataplane/port/link_watch.hpp"

#include "dataplane/port/device.hpp"
#include "dataplane/port/link_follow.hpp"
#include "dataplane/port/netdev.hpp"
#include "lib/base/log.hpp"

#include <rte_errno.h>
#include <rte_ethdev.h>

namespace sluice {
namespace {

constexpr std::chrono::seconds kTryAgain{1};

void leave(Port& port, QuiesceBoard& board) {
    port.up.raise(false);
    port.there.raise(false);
    port.held_down = false;
    port.change.reset();
    port.holds.clear();
    port.settling = {};
    ++port.times_gone;
    port.released_at = board.mark();
    port.presence = Port::Presence::Leaving;
    log_error("the interface of " + title_of(port) +
              " is gone: the port is down until there is one of that name again");
}

Result<Done> start_again(Port& port, const KeepChanges& keep) {
    Result<std::vector<InterfaceHold>> holds = hold_interfaces(port.device);
    if (!holds) {
        return holds.error();
    }
    stop_port(port);
    if (const Result<Done> attached = attach_again(port.device, port.id); !attached) {
        return attached;
    }
    note_settings(port);
    will_set_mtu(port, port.plan.mtu);
    keep();
    if (const Result<Done> started = start_port(port, port.plan); !started) {
        return started;
    }
    port.holds = *std::move(holds);
    return Done{};
}

void take_up_again(Port& port, const KeepChanges& keep) {
    const auto now = LinkSettling::Clock::now();
    if (now < port.next_try || !netdev_is_called(port.netdev.name)) {
        return;
    }
    if (const Result<Done> started = start_again(port, keep); !started) {
        log_error("cannot take up " + title_of(port) + " again: " + started.error().what);
        port.next_try = now + kTryAgain;
        return;
    }
    port.settling = {};  // nobody has just brought it up: it counts once it has carrier
    port.presence = Port::Presence::Here;
    log_warn("the interface of " + title_of(port) + " is there again");
}

// A port whose interface was deleted under it is away until one of that name is there again:
//
//   Here -- its interface is gone --> Leaving -- every worker has let go of it --> Away
//    ^                                                                               |
//    '------- an interface of that name is there, and the port has started ----------'
//
// The port keeps its number, so lanes stay as they are. Asked about every 100 ms, without waiting.
void watch_presence(Port& port, QuiesceBoard& board, const KeepChanges& keep) {
    switch (port.presence) {
        case Port::Presence::Here:
            if (is_bound_to_netdev(port) && netdev_is_gone(port.netdev)) {
                leave(port, board);
            }
            return;
        case Port::Presence::Leaving:
            if (!board.passed(port.released_at)) {
                return;
            }
            port.presence = Port::Presence::Away;
            [[fallthrough]];
        default:
            take_up_again(port, keep);
    }
}

bool has_carrier(const Port& port) {
    if (const std::optional<bool> carrier = netdev_carrier(port.netdev)) {
        return *carrier;
    }
    if (port.driver == "net_tap") {
        return true;  // moved to another namespace, where it goes on working: nobody can tell
    }
    rte_eth_link link{};
    return rte_eth_link_get_nowait(port.id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

Result<Done> set_link(const Port& port, bool up) {
    if (port.netdev.index != 0) {
        return set_netdev_up(port.netdev, up);
    }
    const int failed = up ? rte_eth_dev_set_link_up(port.id) : rte_eth_dev_set_link_down(port.id);
    if (failed != 0) {
        return Error{Errc::NotSupported, rte_strerror(-failed)};
    }
    return Done{};
}

std::string name_of_watched(const Port& port) {
    return port.pair + " " + port.side + " (" + port.device + ")";
}

// False: the port cannot be taken down, and the pair stops following.
bool hold(PortPair& pair, Port& port, const Port& lost, const KeepChanges& keep) {
    port.held_down = true;
    keep();
    const Result<Done> done = set_link(port, false);
    if (done) {
        log_warn("link down on " + name_of_watched(lost) + ": taking " + name_of_watched(port) +
                 " down too");
        return true;
    }
    port.held_down = false;
    keep();
    if (!pair.told_unsupported) {
        log_warn("link down on " + name_of_watched(lost) + ", but " + name_of_watched(port) +
                 " cannot be taken down: " + done.error().what);
        pair.told_unsupported = true;
    }
    return false;
}

bool free_again(Port& port, const Port& returned, const KeepChanges& keep) {
    if (const Result<Done> done = set_link(port, true); !done) {
        log_error("cannot bring " + name_of_watched(port) + " up again: " + done.error().what);
        return false;
    }
    port.held_down = false;
    keep();
    port.settling.begin(LinkSettling::Clock::now());
    log_info("link up on " + name_of_watched(returned) + ": " + name_of_watched(port) +
             " is up again");
    return true;
}

bool step(PortPair& pair, LinkFollow::Action action, const KeepChanges& keep) {
    switch (action) {
        case LinkFollow::Action::HoldOutside:
            return hold(pair, pair.outside, pair.inside, keep);
        case LinkFollow::Action::HoldInside:
            return hold(pair, pair.inside, pair.outside, keep);
        case LinkFollow::Action::FreeOutside:
            return free_again(pair.outside, pair.inside, keep);
        case LinkFollow::Action::FreeInside:
            return free_again(pair.inside, pair.outside, keep);
        default:
            return false;
    }
}

// A side that a process before this one held down, and this one could not bring up at its start.
void free_all(PortPair& pair, const KeepChanges& keep) {
    for (Port* port : {&pair.outside, &pair.inside}) {
        if (port->held_down && port->is_here() && (has_carrier(*port) || set_link(*port, true))) {
            port->held_down = false;
            keep();
            log_info(name_of_watched(*port) + " is up again, which was held down");
        }
    }
}

}  // namespace

void watch_links(PortPair& pair, QuiesceBoard& board, const KeepChanges& keep) {
    watch_presence(pair.outside, board, keep);
    watch_presence(pair.inside, board, keep);
    const LinkSettling::Clock::time_point now = LinkSettling::Clock::now();
    const auto side_of = [now](Port& port) {
        const bool carrier = port.is_here() && has_carrier(port);
        port.up.raise(carrier && !port.held_down);
        return LinkFollow::Side{port.settling.counts_as_up(carrier, now), port.held_down};
    };
    const LinkFollow::Side outside = side_of(pair.outside);
    const LinkFollow::Side inside = side_of(pair.inside);
    if (pair.link_follow) {
        (void)step(pair, LinkFollow::next(outside, inside), keep);
    } else {
        free_all(pair, keep);
    }
}

void release_links(PortPair& pair) {
    for (Port* port : {&pair.outside, &pair.inside}) {
        if (!port->held_down) {
            continue;
        }
        const Result<Done> done = set_link(*port, true);
        port->held_down = !done;
        if (!done) {
            log_error(name_of_watched(*port) +
                      " stays down, which was held down: " + done.error().what);
        }
    }
}

}  // namespace sluice
