#include "dataplane/io/lane_set.hpp"

#include "dataplane/io/frame_note.hpp"

namespace sluice {

LaneSet::LaneSet(const Ports& ports, std::span<WorkerCounters> counters)
    : ports_{ports},
      counters_{counters},
      lanes_{assign_lanes(ports.queues(), counters.size())},
      rings_{connect_lanes(lanes_)} {
    register_frame_notes();
    for (std::vector<Lane>& lanes : lanes_) {
        for (Lane& lane : lanes) {
            const PortPair& pair = ports_.pair_of(lane);
            lane.there = lane.dir == Direction::In ? &pair.outside.there : &pair.inside.there;
        }
        tx_full_.emplace_back(lanes.size());
        sent_.emplace_back(lanes_.size());
    }
}

TxSide LaneSet::tx_side(std::size_t worker, std::size_t i) {
    const Lane& lane = lanes_[worker][i];
    const PortPair& pair = ports_.pair_of(lane);
    const Port& out = lane.dir == Direction::In ? pair.inside : pair.outside;
    return {.port = lane.tx_port,
            .queue = lane.tx_queue,
            .up = out.up,
            .full = tx_full_[worker][i],
            .takes = out.takes,
            .ring = rings_.ends[worker][i].back};
}

LaneHandover* LaneSet::handover_of(std::size_t worker, std::size_t i) {
    const Lane& lane = lanes_[worker][i];
    if (!lane.handed) {
        return nullptr;
    }
    const PortPair& pair = ports_.pair_of(lane);
    const Rss how = lane.dir == Direction::In ? pair.outside.asked : pair.inside.asked;
    handovers_.push_back(std::make_unique<LaneHandover>(
        lane, SoftwareRss{ports_.hash_of(how), how, lanes_.size(), worker},
        std::move(rings_.ends[worker][i].rss_mapping), counters_[worker]));
    return handovers_.back().get();
}

WorkerLanes<DpdkIo> LaneSet::open(std::size_t worker) {
    WorkerLanes<DpdkIo> io;
    for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
        const Lane& lane = lanes_[worker][i];
        LaneEnds& ends = rings_.ends[worker][i];
        auto& lanes = lane.for_owner_only() ? io.owner_lanes : io.lanes;
        lanes.emplace_back(lane, TxSides{tx_side(worker, i), tx_side(worker, opposite_of(i))},
                           ports_.pair_of(lane).pool,
                           LaneWays{handover_of(worker, i), std::move(ends.owned)});
    }
    add_proxies(worker, io);
    return io;
}

// One for each of the worker's transmit queues that others use. Where frames of neither direction
// are spread by us, they use it for those whose keys they own only.
void LaneSet::add_proxies(std::size_t worker, WorkerLanes<DpdkIo>& io) {
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

std::uint64_t LaneSet::tx_full(std::uint16_t port) const {
    std::uint64_t frames = 0;
    for (std::size_t worker = 0; worker < lanes_.size(); ++worker) {
        for (std::size_t i = 0; i < lanes_[worker].size(); ++i) {
            frames += lanes_[worker][i].tx_port == port ? tx_full_[worker][i].read() : 0;
        }
    }
    return frames;
}

void LaneSet::add_stats(std::size_t worker, WorkerStats& stats) const {
    for (const std::vector<SentCounts>& sender : sent_) {
        for (std::size_t i = 0; i < kVerdictCount; ++i) {
            stats.by_verdict[i] += sender[worker].by_verdict[i].read();
            stats.bytes_by_verdict[i] += sender[worker].bytes_by_verdict[i].read();
        }
        for (std::size_t i = 0; i < kReasonCount; ++i) {
            stats.by_reason[i] += sender[worker].by_reason[i].read();
        }
    }
    for (const Lane& lane : lanes_[worker]) {
        stats.lanes.push_back(lane.name);
    }
}

}  // namespace sluice
