#pragma once
#include "lib/base/now.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/pool/line_pool.hpp"

// How long a bucket owes anything: at most, and as its state says. For whoever finds buckets that
// another process has left, and compares them with what can be.
namespace sluice {

// The longest time from a charge until the bucket equals a fresh one.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit) noexcept;
// The same of a bucket that had used so many units when its numbers became these.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit, Units used) noexcept;
// The most units that charges under these numbers leave used.
[[nodiscard]] Units most_used(const AnyLimit& limit) noexcept;

// From when on the bucket equals a fresh one, by its state alone: where that lies in a line, the
// cell's own instant says the same once a charge is complete. The cell's line is the bucket's.
[[nodiscard]] Instant fresh_from(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                 Now now) noexcept;

}  // namespace sluice
