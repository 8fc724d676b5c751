#pragma once
#include "lib/base/quantity.hpp"

#include <chrono>

namespace sluice {

// What a limit counts: packets, or bytes, as its `per` says.
using Units = Quantity<struct UnitsTag>;
using Bytes = Quantity<struct BytesTag>;

using Nanoseconds = std::chrono::nanoseconds;

// Time as the pipeline knows it: read once per burst at the edge and passed down as an argument.
// The clock has no now(): nothing in lib/ can ask what time it is.
struct BurstClock {
    using duration = Nanoseconds;
};
using Instant = std::chrono::time_point<BurstClock, Nanoseconds>;

// No instant of a capture lies beyond this. Those that buckets are checked at stay below 2^56 ns:
// with the longest debt they must fit the 58 bits of a table's entry.
inline constexpr Instant kLastInstant{Nanoseconds{std::int64_t{1} << 62}};

}  // namespace sluice
