#pragma once
#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/handover.hpp"
#include "dataplane/io/lane.hpp"
#include "dataplane/io/lane_rings.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "dataplane/port/ports.hpp"
#include "dataplane/tx_side.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/worker/packet_io.hpp"
#include "lib/share/core.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sluice {

// The ways of frames through all workers: every lane, the rings between workers, and what is
// counted where frames leave. It outlives the workers, which hold on to parts of it.
class LaneSet {
public:
    // Lanes for as many workers as `counters`.
    LaneSet(const Ports& ports, std::span<WorkerCounters> counters);

    // The lanes that one worker runs over; once for each worker, which gets the ends of its rings.
    [[nodiscard]] WorkerLanes<DpdkIo> open(std::size_t worker);

    // Frames that the transmit queues of a port did not take.
    [[nodiscard]] std::uint64_t tx_full(std::uint16_t port) const;
    // Adds what others have sent for a worker, and the names of its lanes.
    void add_stats(std::size_t worker, WorkerStats& stats) const;

private:
    [[nodiscard]] TxSide tx_side(std::size_t worker, std::size_t lane);
    [[nodiscard]] LaneHandover* handover_of(std::size_t worker, std::size_t lane);
    void add_proxies(std::size_t worker, WorkerLanes<DpdkIo>& io);

    const Ports& ports_;
    std::span<WorkerCounters> counters_;
    std::vector<std::vector<Lane>> lanes_;  // by worker
    LaneRings rings_;
    std::vector<std::vector<Counter>> tx_full_;  // by worker and lane
    std::vector<std::vector<SentCounts>> sent_;  // by who sent, and for whom
    std::vector<std::unique_ptr<LaneHandover>> handovers_;
};

}  // namespace sluice
