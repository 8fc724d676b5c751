#pragma once
#include "lib/share/burst_ring.hpp"

#include <cstddef>

struct rte_mbuf;

namespace sluice {

inline constexpr std::size_t kFrameRingSize = 1024;

// Frames from one worker to one other.
using FrameRing = BurstRing<rte_mbuf, kFrameRingSize>;

}  // namespace sluice
