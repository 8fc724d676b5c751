#pragma once
#include "lib/pipeline/burst_units.hpp"

namespace sluice {

// The parser of layer 7 that is plugged into every burst, live, in replay and in explain: questions
// of DNS over UDP. A protocol more is a function beside find_dns(), called by its packets' layer 4.
[[nodiscard]] UnitFinder l7_unit_finder() noexcept;

}  // namespace sluice
