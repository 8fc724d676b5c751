#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/any_limit.hpp"

// How long a bucket owes anything at most. For finding out which buckets that another process has
// left cannot be.
namespace sluice {

// The longest time from a charge until the bucket equals a fresh one.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit) noexcept;
// The same of a bucket that had used so many units when its numbers became these.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit, Units used) noexcept;
// The most units that charges under these numbers leave used.
[[nodiscard]] Units most_used(const AnyLimit& limit) noexcept;

}  // namespace sluice
