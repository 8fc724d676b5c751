// A number of bytes and a number of limit units do not add up, even where both are 64-bit counts.
#include "lib/base/units.hpp"

#ifdef BREAK_IT
constexpr auto kSum = sluice::Bytes{1} + sluice::Units{1};
#else
constexpr auto kSum = sluice::Bytes{1} + sluice::Bytes{1};
#endif
static_assert(kSum.count() == 2);
