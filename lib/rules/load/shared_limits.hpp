#pragma once
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>

namespace sluice {

// The workers of one box, and the interval at which they exchange what they have charged; and the
// boxes of its cluster.
struct Sharers {
    std::size_t workers = 1;
    Nanoseconds merge_interval{};
    std::size_t machines = 1;  // that the cluster may have; 1: the box is in none
};

// How far these workers may go ahead of each other under each limit that is to be merged: what the
// rule says, or what follows from its numbers; and which rules' packets are steered to owners.
// Rules were compiled for so many workers: under limits that as many as there are now cannot merge,
// each worker has buckets of its own until they are compiled again.
void share_limits(LoadedSet& set, const Sharers& sharers);

}  // namespace sluice
