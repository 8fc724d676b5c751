#include "dataplane/port/port_return.hpp"

#include "dataplane/port/device.hpp"
#include "lib/base/log.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds kTryAgain{1};

void leave(Port& port, QuiesceBoard& board) {
    port.up.raise(false);
    port.there.raise(false);
    port.held_down = false;
    port.settling = {};
    ++port.times_gone;
    port.let_go = board.mark();
    port.presence = Port::Presence::Leaving;
    log_error("the interface of " + title_of(port) +
              " is gone: the port is down until there is one of that name again");
}

Result<Done> start_again(Port& port) {
    stop_port(port);
    if (const Result<Done> attached = attach_again(port.device, port.id); !attached) {
        return attached;
    }
    return start_port(port, port.plan);
}

void take_up_again(Port& port) {
    const auto now = LinkSettling::Clock::now();
    if (now < port.next_try || !netdev_is_called(port.netdev.name)) {
        return;
    }
    if (const Result<Done> started = start_again(port); !started) {
        log_error("cannot take up " + title_of(port) + " again: " + started.error().what);
        port.next_try = now + kTryAgain;
        return;
    }
    port.settling = {};  // nobody has just brought it up: it counts once it has carrier
    port.presence = Port::Presence::Here;
    log_warn("the interface of " + title_of(port) + " is there again");
}

}  // namespace

void watch_presence(Port& port, QuiesceBoard& board) {
    switch (port.presence) {
        case Port::Presence::Here:
            if (is_bound_to_netdev(port) && netdev_is_gone(port.netdev)) {
                leave(port, board);
            }
            return;
        case Port::Presence::Leaving:
            if (!board.passed(port.let_go)) {
                return;
            }
            port.presence = Port::Presence::Away;
            [[fallthrough]];
        default:
            take_up_again(port);
    }
}

}  // namespace sluice
