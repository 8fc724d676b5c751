#pragma once
#include "dataplane/io/frame_ring.hpp"
#include "dataplane/io/handover.hpp"
#include "dataplane/io/lane.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

// The rings of one worker's lane.
struct LaneEnds {
    HandoverEnds rss_mapping;   // where its frames are spread over all workers by our hash
    HandoverEnds owned;         // frames for the owners of their keys
    FrameRing* back = nullptr;  // to the worker that sends; nullptr: it has a queue of its own
};

// A ring to the worker that sends what another has judged.
struct BackRing {
    std::size_t from = 0;    // worker
    std::size_t sender = 0;  // worker
    std::size_t lane = 0;    // of the sender: it owns the queue
    FrameRing* ring = nullptr;
};

// The rings between workers. One writer and one reader each.
struct LaneRings {
    std::vector<std::unique_ptr<FrameRing>> rings;
    std::vector<std::vector<LaneEnds>> ends;  // by worker and lane
    std::vector<BackRing> backs;
};

[[nodiscard]] LaneRings connect_lanes(const std::vector<std::vector<Lane>>& lanes);

}  // namespace sluice
