#pragma once
#include "lib/load/loaded_set.hpp"

namespace sluice {

// Fills what workers need to handle entries of tables without the packet at hand: the rows of all
// slots that the limits of the set, and of `gone`, have been given, and the longest debt there is;
// and which rules act on the fate of their keys. The set may be moved afterwards, not copied.
void list_slots(LoadedSet& set);

// The longest time from a charge until the bucket equals a fresh one.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit) noexcept;
// The same of a bucket that had used so many units when its numbers became these.
[[nodiscard]] Nanoseconds longest_debt(const AnyLimit& limit, Units used) noexcept;
// The most units that charges under these numbers leave used.
[[nodiscard]] Units most_used(const AnyLimit& limit) noexcept;

}  // namespace sluice
