#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"

namespace sluice {

// locate_burst() where all packets meet one rule, of which keys have overrides: rows are told apart
// by what is seen of their keys (Scratch::seen), so that they can be judged kind by kind.
void locate_overridden(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// locate_own() of them: of bursts whose keys were looked up in the table first, where those lie
// that are not exempt.
void locate_others(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// What is seen of the keys that were not in their first lines, once the second ones have been
// probed. What they are looked up in is asked for only now, so they are judged last.
[[nodiscard]] Scratch::Seen ask_for_missed(Scratch& scratch, const LoadedSet& set,
                                           const CoreState& core) noexcept;

}  // namespace sluice
