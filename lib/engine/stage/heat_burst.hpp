#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// At the top of a turn: the table that the worker notes watched keys in, if any limit of the set
// has a map.
inline void adopt_heat(const LoadedSet& set, CoreState& core) noexcept {
    core.watching = core.heat == nullptr ? nullptr : core.heat->adopt(set.load);
}

// Notes the watched keys of a burst that has been decided, while something is watched: what each
// limit with a map was offered and refused, and what is left behind the burst, which is the least
// that any of its packets left, since all of them are judged at one instant.
void heat_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

}  // namespace sluice
