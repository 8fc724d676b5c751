#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// Tells core.sampler of one packet of a burst that has been judged: for each rule that counted it,
// by whom and how that ended.
void sample_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

}  // namespace sluice
