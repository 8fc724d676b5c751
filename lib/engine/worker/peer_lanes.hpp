#pragma once
#include "lib/peer/follow/connection_lanes.hpp"
#include "lib/peer/link/links.hpp"
#include "lib/peer/merge/delta_lane.hpp"
#include "lib/peer/reserve/ask_lane.hpp"

#include <cstddef>

namespace sluice {

// All that the workers of a box tell each other by: their links, and the protocols over them. Their
// frames alone go another way (OwnerHandover).
struct PeerLanes {
    explicit PeerLanes(std::size_t workers) : PeerLanes{workers, link_sizes(workers)} {}
    PeerLanes(std::size_t workers, const LinkSizes& sizes) : links{workers, sizes} {}
    // Lanes refer to the links.
    PeerLanes(const PeerLanes&) = delete;
    PeerLanes& operator=(const PeerLanes&) = delete;

    Links links;
    DeltaLanes amounts{links};
    AskLanes questions{links};
    ConnectionLanes connections{links};
};

}  // namespace sluice
