#pragma once
#include "lib/l7/stream/unit_event.hpp"
#include "lib/share/core.hpp"

#include <array>

namespace sluice {

// By UnitEvent: one worker's.
using UnitEventCounters = std::array<Counter, kUnitEventCount>;

}  // namespace sluice
