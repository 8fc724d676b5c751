#pragma once
#include "lib/pipeline/stages.hpp"

namespace sluice {

// The product in four lines. rx before it, and act and tx after it, are dataplane/'s.
inline void run_burst(Burst& burst, const RuleSet& set, CoreState& core, Now now) noexcept {
    parse_burst(burst, core);
    match_burst(burst, set, core);
    key_burst(burst, set, core);
    meter_burst(burst, set, core, now);
}

}  // namespace sluice
