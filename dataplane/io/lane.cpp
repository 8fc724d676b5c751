#include "dataplane/io/lane.hpp"

namespace sluice {
namespace {

Lane lane_of(const PairQueues& pair, Direction dir, std::size_t q) {
    const bool in = dir == Direction::In;
    const auto queue = static_cast<std::uint16_t>(q);
    const std::string side = in ? " in" : " out";
    return {.rx_port = in ? pair.outside_port : pair.inside_port,
            .rx_queue = queue,
            .tx_port = in ? pair.inside_port : pair.outside_port,
            .tx_queue = queue,
            .dir = dir,
            .pair = port_name(pair.name),
            .name = pair.name + side + " q" + std::to_string(q),
            .handed = in ? pair.in_handed : pair.out_handed};
}

// The lane of a worker beyond those that own a queue.
Lane ringed_lane(const PairQueues& pair, Direction dir, std::size_t q) {
    Lane lane = lane_of(pair, dir, q);
    lane.owns = false;
    lane.name = pair.name + (dir == Direction::In ? " in" : " out") +
                (lane.handed ? " handed over" : " as owner");
    return lane;
}

// Both directions of a queue, for the worker that owns it or for one that owns none.
void add_lanes(std::vector<Lane>& lanes, const PairQueues& pair, std::size_t q, std::size_t sender,
               bool owns) {
    for (const Direction dir : {Direction::In, Direction::Out}) {
        lanes.push_back(owns ? lane_of(pair, dir, q) : ringed_lane(pair, dir, q));
        lanes.back().sender = sender;
    }
}

}  // namespace

std::vector<std::vector<Lane>> assign_lanes(std::span<const PairQueues> pairs,
                                            std::size_t workers) {
    std::vector<std::vector<Lane>> lanes(workers);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const PairQueues& pair = pairs[p];
        std::vector<bool> owns(workers);
        for (std::size_t q = 0; q < pair.queues; ++q) {
            const std::size_t worker = owner_of(p, pair, q, workers);
            owns[worker] = true;
            add_lanes(lanes[worker], pair, q, worker, true);
        }
        for (std::size_t worker = 0; worker < workers; ++worker) {
            if (!owns[worker]) {
                const std::size_t q = worker % pair.queues;
                add_lanes(lanes[worker], pair, q, owner_of(p, pair, q, workers), false);
            }
        }
    }
    return lanes;
}

}  // namespace sluice
