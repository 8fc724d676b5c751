#include "dataplane/port/ports.hpp"

#include "dataplane/port/device.hpp"
#include "dataplane/port/pool.hpp"

#include <algorithm>

namespace sluice {
namespace {

Result<PortOffer> attach(Port& port, const PairConfig& pair, const PortConfig& side,
                         std::string_view name) {
    port.pair = pair.name;
    port.side = name;
    port.device = side.device;
    const Result<std::uint16_t> id = attach_device(side.device);
    if (!id) {
        return id.error();
    }
    port.id = *id;
    return ask_port(port);
}

// What leads from a hash to a worker: two cards of one kind with as many queues do it alike.
std::uint64_t way_of(const Port& port, std::size_t pair, std::size_t workers) {
    const std::size_t first = port.queues == workers ? 0 : pair;
    return port_name(port.driver + "/" + std::to_string(port.table) + "/" +
                     std::to_string(port.queues) + "/" + std::to_string(first));
}

PortRssMapping::By who_spreads(const Port& port, std::size_t workers) {
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

Ports::Ports(const RssKeys& keys)
    : keys_{keys},
      hash_{keys_.of(Rss::Source).first<Toeplitz::kKeySize>()},
      symmetric_hash_{keys_.of(Rss::Symmetric).first<Toeplitz::kKeySize>()} {}

Ports::~Ports() {
    for (const auto& pair : pairs_) {
        release_links(*pair);
        stop_port(pair->outside);
        stop_port(pair->inside);
    }
}

Result<Done> Ports::start(const BoxConfig& box, std::size_t workers) {
    for (const PairConfig& pair : box.pairs) {
        if (const Result<Done> done = start_pair(box, pair, workers); !done) {
            return done.error();
        }
    }
    return Done{};
}

Result<Done> Ports::start_pair(const BoxConfig& box, const PairConfig& config,
                               std::size_t workers) {
    pairs_.push_back(std::make_unique<PortPair>());
    PortPair& pair = *pairs_.back();
    pair.link_follow = config.link_follow;
    const Result<PortOffer> outside = attach(pair.outside, config, config.outside, "outside");
    if (!outside) {
        return outside.error();
    }
    const Result<PortOffer> inside = attach(pair.inside, config, config.inside, "inside");
    if (!inside) {
        return inside.error();
    }
    const Result<std::uint16_t> mtu = choose_mtu(config, *outside, *inside);
    if (!mtu) {
        return mtu.error();
    }
    const std::uint16_t queues = choose_queues(config, *outside, *inside, workers);
    const bool rings =
        config.hand_over && workers > 1 &&
        (queues == 1 || !outside->can_spread || !inside->can_spread ||
         config.outside.rss == Rss::SourcePrefix || config.inside.rss == Rss::SourcePrefix);
    const Result<rte_mempool*> pool =
        make_pool(plan_pool(box, {queues, workers, rings, losing_ports(config)}, *mtu), config.name,
                  pair.outside.id, outside->socket);
    if (!pool) {
        return pool.error();
    }
    pair.pool = *pool;
    const auto start = [&](Port& port, const PortConfig& side) {
        const Result<Done> done = start_port(port, {queues, *mtu, side.rss, *pool, &keys_});
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
        watch_links(*pair, board);
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
            PortRssMapping one{.pair = port.pair, .dir = dir, .by = who_spreads(port, workers)};
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

std::string Ports::pair_called(std::uint64_t port_name_of_pair) const {
    const auto pair = std::find_if(queues_.begin(), queues_.end(), [&](const PairQueues& one) {
        return port_name(one.name) == port_name_of_pair;
    });
    return pair == queues_.end() ? std::string{} : pair->name;
}

}  // namespace sluice
