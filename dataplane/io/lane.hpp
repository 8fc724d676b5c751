#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/share/core.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// The way of packets through one worker: from one receive queue to one transmit queue. Frames that
// the box makes may also leave by the port that packets come from, through the transmit queue of
// the lane in the other direction (opposite_of()), which the same worker has. Every queue belongs
// to exactly one lane, every lane to exactly one worker, so nothing is shared. Workers without a
// queue of a pair have lanes too: for frames that are handed over (handover.hpp), or for those
// whose keys they own (owner_handover.hpp).
struct Lane {
    std::uint16_t rx_port = 0;
    std::uint16_t rx_queue = 0;
    std::uint16_t tx_port = 0;
    std::uint16_t tx_queue = 0;
    Direction dir = Direction::In;
    std::uint64_t pair = 0;  // port_name() of the pair
    std::string name;        // "uplink in q0", for people
    bool handed = false;     // its frames are spread over all workers
    bool owns = true;        // both queues; else it finds its frames in rings, and `sender` sends
    std::size_t sender = 0;  // the worker that owns the transmit queue
    const Signal* there = nullptr;  // whether the receive queue is; nullptr: always

    // Nothing comes in here but what others hand to the owner of its key.
    [[nodiscard]] bool for_owner_only() const noexcept { return !owns && !handed; }
};

// A pair of started ports.
struct PairQueues {
    std::string name;
    std::uint16_t outside_port = 0;
    std::uint16_t inside_port = 0;
    std::uint16_t queues = 1;  // of each port, in each direction
    bool in_handed = false;    // what comes in outside is handed over between workers
    bool out_handed = false;
};

// The worker of queue q of pair p. With a queue for each worker they are numbered alike, so that
// what hashes alike meets the same worker whichever pair it comes from.
[[nodiscard]] inline std::size_t owner_of(std::size_t p, const PairQueues& pair, std::size_t q,
                                          std::size_t workers) {
    return pair.queues == workers ? q : (p + q) % workers;
}

// Lanes by worker. Both directions of a queue go to one worker, so that a pair with single queues
// is one worker's unless its frames are handed over. Every worker has one for each direction.
[[nodiscard]] std::vector<std::vector<Lane>> assign_lanes(std::span<const PairQueues> pairs,
                                                          std::size_t workers);

// The counterpart of a worker's lane i: the same queue number of the same pair, the other
// direction. Lanes are assigned two by two.
[[nodiscard]] constexpr std::size_t opposite_of(std::size_t i) noexcept {
    return i ^ 1U;
}

}  // namespace sluice
