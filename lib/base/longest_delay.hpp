#pragma once
#include "lib/base/units.hpp"

#include <chrono>

namespace sluice {

// The longest that a packet may be held until its departure (the action `shape`): what the timing
// wheel reaches, less some seconds for which a worker may stand still. A bucket that packets wait
// for owes for so much longer than its burst.
inline constexpr Nanoseconds kLongestDelay = std::chrono::seconds{60};

}  // namespace sluice
