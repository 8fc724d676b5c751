#pragma once
#include "lib/packet/flow.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// The way of packets through one worker: from one receive queue to one transmit queue. Every queue
// belongs to exactly one lane, every lane to exactly one worker, so nothing is shared.
struct Lane {
    std::uint16_t rx_port = 0;
    std::uint16_t rx_queue = 0;
    std::uint16_t tx_port = 0;
    std::uint16_t tx_queue = 0;
    Direction dir = Direction::In;
    std::uint64_t pair = 0;  // port_name() of the pair
    std::string name;        // "uplink in q0", for people
};

// A pair of started ports.
struct PairQueues {
    std::string name;
    std::uint16_t outside_port = 0;
    std::uint16_t inside_port = 0;
    std::uint16_t queues = 1;  // of each port, in each direction
};

// Lanes by worker. Both directions of queue q of pair p go to worker (p + q) mod workers, so that a
// pair with single queues is one worker's, and its limits are exact.
[[nodiscard]] inline std::vector<std::vector<Lane>> assign_lanes(std::span<const PairQueues> pairs,
                                                                 std::size_t workers) {
    std::vector<std::vector<Lane>> lanes(workers);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const PairQueues& pair = pairs[p];
        for (std::uint16_t q = 0; q < pair.queues; ++q) {
            std::vector<Lane>& mine = lanes[(p + q) % workers];
            const std::string queue = " q" + std::to_string(q);
            mine.push_back({pair.outside_port, q, pair.inside_port, q, Direction::In,
                            port_name(pair.name), pair.name + " in" + queue});
            mine.push_back({pair.inside_port, q, pair.outside_port, q, Direction::Out,
                            port_name(pair.name), pair.name + " out" + queue});
        }
    }
    return lanes;
}

}  // namespace sluice
