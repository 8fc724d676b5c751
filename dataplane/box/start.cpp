#include "dataplane/box/dataplane.hpp"
#include "dataplane/port/device.hpp"
#include "dataplane/port/pool.hpp"

#include <algorithm>

#include <rte_ethdev.h>
#include <rte_launch.h>

// Ports and workers, from nothing to running.
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

}  // namespace

Result<Done> Dataplane::start_ports() {
    for (const PairConfig& pair : box_.pairs) {
        if (const Result<Done> done = start_pair(pair); !done) {
            return done.error();
        }
    }
    return Done{};
}

Result<Done> Dataplane::start_pair(const PairConfig& config) {
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
    const std::uint16_t queues = choose_queues(config, *outside, *inside, lcores_.size());
    const std::size_t workers = lcores_.size();
    const bool rings =
        config.hand_over && workers > 1 &&
        (queues == 1 || !outside->can_spread || !inside->can_spread ||
         config.outside.rss == Rss::SourcePrefix || config.inside.rss == Rss::SourcePrefix);
    const Result<rte_mempool*> pool = make_pool(plan_pool(box_, {queues, workers, rings}, *mtu),
                                                config.name, pair.outside.id, outside->socket);
    if (!pool) {
        return pool.error();
    }
    pair.pool = *pool;
    const auto start = [&](Port& port, const PortConfig& side) {
        const Result<Done> done = start_port(port, {queues, *mtu, side.rss, *pool, &rss_keys_});
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

const PortPair& Dataplane::pair_of(const Lane& lane) const {
    const auto has = [&](const std::unique_ptr<PortPair>& pair) {
        return pair->outside.id == lane.tx_port || pair->inside.id == lane.tx_port;
    };
    return **std::find_if(pairs_.begin(), pairs_.end(), has);
}

TxSide Dataplane::tx_side(std::size_t worker, std::size_t i) {
    const Lane& lane = lanes_[worker][i];
    const PortPair& pair = pair_of(lane);
    const Port& out = lane.dir == Direction::In ? pair.inside : pair.outside;
    return {.port = lane.tx_port,
            .queue = lane.tx_queue,
            .up = out.up,
            .full = tx_full_[worker][i],
            .takes = out.takes,
            .ring = rings_.ends[worker][i].back};
}

LaneHandover* Dataplane::handover_of(std::size_t worker, std::size_t i) {
    const Lane& lane = lanes_[worker][i];
    if (!lane.handed) {
        return nullptr;
    }
    const PortPair& pair = pair_of(lane);
    const Rss how = lane.dir == Direction::In ? pair.outside.asked : pair.inside.asked;
    const Toeplitz& hash = how == Rss::Symmetric ? symmetric_hash_ : hash_;
    handovers_.push_back(std::make_unique<LaneHandover>(
        lane, SoftwareRss{hash, how, lcores_.size(), worker},
        std::move(rings_.ends[worker][i].rss_mapping), counters_[worker]));
    return handovers_.back().get();
}

WorkerLanes Dataplane::lanes_of(std::size_t worker) {
    WorkerLanes io;
    for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
        const Lane& lane = lanes_[worker][i];
        LaneEnds& ends = rings_.ends[worker][i];
        auto& lanes = lane.for_owner_only() ? io.owner_lanes : io.lanes;
        lanes.emplace_back(lane, TxSides{tx_side(worker, i), tx_side(worker, opposite_of(i))},
                           pair_of(lane).pool,
                           LaneWays{handover_of(worker, i), std::move(ends.owned)});
    }
    add_proxies(worker, io);
    return io;
}

// One for each of the worker's transmit queues that others use. Where frames of neither direction
// are spread by us, they use it for those whose keys they own only.
void Dataplane::add_proxies(std::size_t worker, WorkerLanes& io) {
    for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
        std::vector<TxProxy::Client> clients;
        for (const BackRing& back : rings_.backs) {
            if (back.sender == worker && back.lane == i) {
                clients.push_back({back.ring, &sent_[worker][back.from]});
            }
        }
        if (!clients.empty()) {
            const bool handed = lanes_[worker][i].handed || lanes_[worker][opposite_of(i)].handed;
            (handed ? io.proxies : io.owner_proxies)
                .emplace_back(tx_side(worker, i), std::move(clients));
        }
    }
}

void Dataplane::start_workers() {
    lanes_ = assign_lanes(queues_, lcores_.size());
    rings_ = connect_lanes(lanes_);
    state_.open_former(loaded_->set().slots);
    for (std::size_t worker = 0; worker < lcores_.size(); ++worker) {
        tx_full_.emplace_back(lanes_[worker].size());
        sent_.emplace_back(lcores_.size());
    }
    CoreRoster roster;
    for (std::size_t worker = 0; worker < lcores_.size(); ++worker) {
        samplers_.push_back(std::make_unique<KeySampler>(random_number()));
        workers_.push_back(std::make_unique<Worker>(
            roster.enlist(),
            WorkerSetup{running_, board_, stop_, box_.idle_sleep, state_.clock_lead(),
                        ledger_lanes_, lcores_.size()},
            CoreState{.policy = {.tunnels = box_.tunnels,
                                 .malformed = box_.malformed,
                                 .tell_wait = false},
                      .hash = KeyHasher{state_.secrets().hash},
                      .buckets = state_.store(worker, loaded_->set().slots),
                      .counters = counters_[worker],
                      .sampler = samplers_.back().get()},
            state_.records(worker), lanes_of(worker)));
    }
    std::vector<const BucketStore*> tables;
    tables.reserve(workers_.size());
    for (const auto& worker : workers_) {
        tables.push_back(&worker->buckets());
    }
    peers_ = std::make_unique<WorkerTables>(std::move(tables));
    for (const auto& worker : workers_) {
        worker->meet(*peers_);
    }
    report_found();
    const auto run = [](void* worker) {
        static_cast<Worker*>(worker)->run();
        return 0;
    };
    for (std::size_t worker = 0; worker < lcores_.size(); ++worker) {
        (void)rte_eal_remote_launch(run, workers_[worker].get(), lcores_[worker]);
    }
    moved_by_ = time_to_move();
}

}  // namespace sluice
