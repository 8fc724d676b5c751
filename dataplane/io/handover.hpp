#pragma once
#include "dataplane/io/frame_ring.hpp"
#include "dataplane/io/lane.hpp"
#include "dataplane/io/software_rss.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/burst/scratch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Rings by which one worker's lane hands frames to the others, and gets theirs.
struct HandoverEnds {
    std::vector<FrameRing*> to;    // by worker, nullptr for oneself; empty: it hands over nothing
    std::vector<FrameRing*> from;  // what others hand to it
};

// A lane whose frames are spread over the workers by our hash, as one worker has it. Where a queue
// of the port is this worker's, it receives there, keeps what is its own and hands the rest over;
// the others find theirs in rings. Nobody waits for anybody: what a ring has no room for is
// dropped and counted. A flow has one receiver and one worker, so its frames stay in order.
class LaneHandover {
public:
    LaneHandover(const Lane& lane, const SoftwareRss& rss_mapping, HandoverEnds ends,
                 WorkerCounters& counters);

    // How many frames came from the port or a ring, and how many of them are this worker's.
    struct Came {
        std::uint16_t ours = 0;
        std::uint16_t all = 0;
    };
    [[nodiscard]] Came receive(rte_mbuf** frames) noexcept;

private:
    [[nodiscard]] Came receive_from_port(rte_mbuf** ours) noexcept;
    void flush(std::size_t worker) noexcept;

    // Frames on their way to one worker, of one burst.
    struct Outbox {
        std::array<rte_mbuf*, kMaxBurst> frames;
        unsigned count = 0;
    };

    const Lane& lane_;
    SoftwareRss rss_;
    HandoverEnds ends_;
    WorkerCounters& counters_;
    std::vector<Outbox> outboxes_;  // by worker
    std::size_t next_ = 0;          // who is asked first: the port, or one of the rings
};

}  // namespace sluice
