#pragma once
#include "lib/engine/burst/core_state.hpp"

namespace sluice {

// Makes a set the one whose limits a core's buckets know, if it is not already.
inline void adopt(const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (core.known != &set || core.known_load != set.load) [[unlikely]] {
        core.buckets.adopt(set.slots, set.changes, set.longest_debt, now);
        core.buckets.registry.adopt_groups(set.share_groups);
        core.known = &set;
        core.known_load = set.load;
    }
}

// Upkeep of the tables, once per burst.
inline void tend(CoreState& core, Now now) noexcept {
    if (core.buckets.begin_burst(now)) [[unlikely]] {
        core.counters.settled.set(core.buckets.settled_changes());
    }
}

}  // namespace sluice
