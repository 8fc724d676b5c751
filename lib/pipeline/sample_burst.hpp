#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"

namespace sluice {

// Tells core.sampler of one packet of a burst that has been judged: for each rule that counted it,
// by whom and how that ended.
void sample_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

}  // namespace sluice
