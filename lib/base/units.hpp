#pragma once
#include "lib/base/quantity.hpp"

#include <chrono>

namespace sluice {

// Units are what a limit counts: packets, or bytes, as its `per` says.
using Units = Quantity<struct UnitsTag>;
using Bytes = Quantity<struct BytesTag>;

using Nanoseconds = std::chrono::nanoseconds;

// Time as the pipeline knows it: read once per burst at the edge and passed down as an argument.
// The clock has no now(): nothing in lib/ can ask what time it is.
struct BurstClock {
    using duration = Nanoseconds;
};
using Instant = std::chrono::time_point<BurstClock, Nanoseconds>;

// No instant of a capture lies beyond this.
inline constexpr Instant kLastInstant{Nanoseconds{std::int64_t{1} << 62}};

// A table's entry holds 58 bits of an instant, with its sign. So instants begin near zero wherever
// buckets begin, and no limit may owe for longer than half of what fits (833 days): as long are
// instants good for every limit, and until kEndOfInstants less what it owes for each.
inline constexpr Instant kEndOfInstants{Nanoseconds{(std::int64_t{1} << 57) - 1}};
inline constexpr Nanoseconds kLongestDebt{std::int64_t{1} << 56};

}  // namespace sluice
