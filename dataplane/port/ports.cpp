#include "dataplane/port/ports.hpp"

#include "dataplane/io/software_rss.hpp"
#include "dataplane/port/device.hpp"
#include "dataplane/port/driver_hush.hpp"
#include "dataplane/port/mtu_watch.hpp"
#include "dataplane/port/pool.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/device_text.hpp"
#include "lib/base/log.hpp"
#include "lib/rules/kernel_pairs.hpp"

#include <algorithm>
#include <utility>

#include <net/if.h>

namespace sluice {
namespace {

Result<Done> hold_port(Port& port, const PairConfig& pair, const PortConfig& side,
                       std::string_view name) {
    port.pair = pair.name;
    port.side = name;
    port.device = side.device;
    Result<std::vector<InterfaceHold>> holds = hold_interfaces(side.device);
    if (!holds) {
        return holds.error();
    }
    port.holds = *std::move(holds);
    return Done{};
}

Result<PortOffer> attach(Port& port) {
    const Result<std::uint16_t> id = attach_device(port.device);
    if (!id) {
        return id.error();
    }
    port.id = *id;
    note_settings(port);
    PortOffer offer = ask_port(port);
    // An MTU that a process before this one has set is not the interface's own.
    offer.mtu = port.change && offer.mtu ? port.change->before.mtu : offer.mtu;
    return offer;
}

// The kernel takes the first tag off the frame, and DPDK's driver puts it back as 0x8100.
void warn_of_tags(const BoxConfig& box) {
    const auto is_af_packet = [](const PortConfig& port) {
        return port.device.starts_with("net_af_packet");
    };
    if (std::any_of(box.pairs.begin(), box.pairs.end(), [&](const PairConfig& pair) {
            return is_af_packet(pair.outside) || is_af_packet(pair.inside);
        })) {
        log_warn(
            "net_af_packet ports send 802.1ad frames (0x88a8) on as 802.1Q (0x8100), and rules "
            "see them so; where such come, take net_af_xdp, or a card of its own");
    }
}

bool uses(const Port& port, unsigned index) {
    const std::vector<std::string> interfaces = interfaces_of(port.device);
    return std::any_of(interfaces.begin(), interfaces.end(), [index](const std::string& name) {
        return ::if_nametoindex(name.c_str()) == index;
    });
}

// The way from a hash to a worker: two cards of one kind with as many queues do it alike.
std::uint64_t way_of(const Port& port, std::size_t pair, std::size_t workers) {
    const std::size_t first = port.queues == workers ? 0 : pair;
    return port_name(port.driver + "/" + std::to_string(port.table) + "/" +
                     std::to_string(port.queues) + "/" + std::to_string(first));
}

PortRssMapping::By rss_by(const Port& port, std::size_t workers) {
    using By = PortRssMapping::By;
    if (workers == 1 || (port.queues == 1 && !port.handed)) {
        return By::OneWorker;
    }
    if (port.handed) {
        return By::Handover;
    }
    return port.hashes ? By::Port : By::Unknown;
}

}  // namespace

Ports::Ports(const RssKeys& keys, const std::string& state_dir)
    : kept_{state_dir},
      keys_{keys},
      hash_{keys_.of(Rss::Source).first<Toeplitz::kKeySize>()},
      symmetric_hash_{keys_.of(Rss::Symmetric).first<Toeplitz::kKeySize>()} {}

Ports::~Ports() {
    for (const auto& pair : pairs_) {
        release_links(*pair);
        const DriverHush hush{pair->stays_in_kernel};
        for (Port* port : {&pair->outside, &pair->inside}) {
            stop_port(*port);
            if (!pair->stays_in_kernel) {
                restore_settings(*port);
            }
        }
    }
    keep();
}

Result<Done> Ports::hold(const BoxConfig& box) {
    for (const PairConfig& config : box.pairs) {
        pairs_.push_back(std::make_unique<PortPair>());
        PortPair& pair = *pairs_.back();
        pair.link_follow = config.link_follow;
        pair.stays_in_kernel = has_program(box, config);
        Result<Done> held = hold_port(pair.outside, config, config.outside, "outside");
        held = held ? hold_port(pair.inside, config, config.inside, "inside") : held;
        if (!held) {
            return held.error();
        }
    }
    take_up_kept();
    return Done{};
}

Port* Ports::port_at(const Netdev& netdev) {
    for (const auto& pair : pairs_) {
        for (Port* port : {&pair->outside, &pair->inside}) {
            if (uses(*port, netdev.index)) {
                return port;
            }
        }
    }
    return nullptr;
}

void Ports::take_up_kept() {
    Result<std::vector<KeptPort>> kept = kept_.load();
    if (!kept) {
        log_error(kept.error().what + "; " + put_file_aside(kept_.path()));
        return;
    }
    last_kept_ = *std::move(kept);
    for (const KeptPort& left : last_kept_) {
        Port* const port = port_at(left.netdev);
        if (netdev_is_gone(left.netdev)) {
            continue;
        }
        if (port == nullptr) {
            if (!restore_left(left)) {
                left_changed_.push_back(left);
            }
            continue;
        }
        port->netdev = left.netdev;
        port->change = left.change;
        port->held_down = left.held_down && !bring_up(left);
    }
    keep();
}

// The file is written before an interface is changed, so that a killed process has kept it.
void Ports::keep() {
    std::vector<KeptPort> now = left_changed_;
    for (const auto& pair : pairs_) {
        for (const Port* port : {&pair->outside, &pair->inside}) {
            if (port->change) {
                now.push_back({port->netdev, *port->change, port->held_down});
            }
        }
    }
    if (now == last_kept_) {
        return;
    }
    const Result<Done> saved = kept_.save(now);
    if (saved) {
        last_kept_ = std::move(now);
    } else if (!std::exchange(told_unkept_, true)) {
        log_error("what ports change at interfaces stays so if this process is killed: " +
                  saved.error().what);
    }
}

Result<Done> Ports::start(const BoxConfig& box, std::size_t workers) {
    for (std::size_t index = 0; index < box.pairs.size(); ++index) {
        if (const Result<Done> done = start_pair(box, index, workers); !done) {
            return done.error();
        }
    }
    warn_of_tags(box);
    return Done{};
}

Result<Done> Ports::start_pair(const BoxConfig& box, std::size_t index, std::size_t workers) {
    const PairConfig& config = box.pairs[index];
    PortPair& pair = *pairs_[index];
    const Result<PortOffer> outside = attach(pair.outside);
    if (!outside) {
        return outside.error();
    }
    const Result<PortOffer> inside = attach(pair.inside);
    if (!inside) {
        return inside.error();
    }
    const std::uint16_t mtu = choose_mtu(config, *outside, *inside);
    will_set_mtu(pair.outside, mtu);
    will_set_mtu(pair.inside, mtu);
    keep();
    const std::uint16_t queues = choose_queues(config, *outside, *inside, workers);
    const bool rings =
        config.hand_over && workers > 1 &&
        (queues == 1 || !outside->has_rss || !inside->has_rss ||
         config.outside.rss == Rss::SourcePrefix || config.inside.rss == Rss::SourcePrefix);
    const Result<rte_mempool*> pool =
        make_pool(plan_pool(box, {queues, workers, rings, losing_ports(config)}, mtu), config.name,
                  pair.outside.id, outside->socket);
    if (!pool) {
        return pool.error();
    }
    pair.pool = *pool;
    const auto start = [&](Port& port, const PortConfig& side) {
        const Result<Done> done = start_port(port, {queues, mtu, side.rss, *pool, &keys_});
        port.handed = config.hand_over && hands_over(port, workers);
        return done;
    };
    if (const Result<Done> done = start(pair.outside, config.outside); !done) {
        return done.error();
    }
    if (const Result<Done> done = start(pair.inside, config.inside); !done) {
        return done.error();
    }
    queues_.push_back({config.name, pair.outside.id, pair.inside.id, queues, pair.outside.handed,
                       pair.inside.handed});
    return Done{};
}

void Ports::watch(QuiesceBoard& board) {
    for (const auto& pair : pairs_) {
        watch_links(*pair, board, [this] { keep(); });
        watch_mtus(*pair);
    }
}

const PortPair& Ports::pair_of(const Lane& lane) const {
    const auto has = [&](const std::unique_ptr<PortPair>& pair) {
        return pair->outside.id == lane.tx_port || pair->inside.id == lane.tx_port;
    };
    return **std::find_if(pairs_.begin(), pairs_.end(), has);
}

std::vector<PortRssMapping> Ports::rss_mapping(std::size_t workers) const {
    std::vector<PortRssMapping> mappings;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        const auto add = [&](const Port& port, Direction dir) {
            PortRssMapping one{.pair = port.pair, .dir = dir, .by = rss_by(port, workers)};
            one.rss = port.handed ? port.asked : port.hashes.value_or(Rss::Source);
            if (one.by == PortRssMapping::By::Port) {
                one.way = way_of(port, p, workers);
            } else if (one.by == PortRssMapping::By::OneWorker) {
                one.way = owner_of(p, queues_[p], 0, workers);
            }
            mappings.push_back(std::move(one));
        };
        add(pairs_[p]->outside, Direction::In);
        add(pairs_[p]->inside, Direction::Out);
    }
    return mappings;
}

std::optional<std::size_t> Ports::receiver_of(const FrameView& frame, std::size_t p, Direction dir,
                                              std::size_t workers) const {
    const Port& port = dir == Direction::In ? pairs_[p]->outside : pairs_[p]->inside;
    const std::size_t first = owner_of(p, queues_[p], 0, workers);
    switch (rss_by(port, workers)) {
        case PortRssMapping::By::OneWorker:
            return first;
        case PortRssMapping::By::Handover:
            return SoftwareRss{hash_of(port.asked), port.asked, workers, first}.worker_of(frame);
        case PortRssMapping::By::Port: {
            PacketHeaders outer;
            parse_frame(frame, Tunnels{}, outer);
            const RssBytes bytes{outer, *port.hashes};
            if (port.table == 0) {
                return std::nullopt;
            }
            const std::uint64_t entry =
                bytes.view().empty() ? 0 : hash_of(*port.hashes)(bytes.view()) % port.table;
            return owner_of(p, queues_[p], entry % queues_[p].queues, workers);
        }
        default:
            return std::nullopt;
    }
}

std::string Ports::pair_called(std::uint64_t port_name_of_pair) const {
    const auto pair = std::find_if(queues_.begin(), queues_.end(), [&](const PairQueues& one) {
        return port_name(one.name) == port_name_of_pair;
    });
    return pair == queues_.end() ? std::string{} : pair->name;
}

}  // namespace sluice
