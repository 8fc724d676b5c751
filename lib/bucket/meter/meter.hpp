#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/relief.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <concepts>
#include <optional>

namespace sluice {

// The seven operations of an algorithm over the bucket that a cell holds or names. A meter is made
// of the numbers of a limit and keeps nothing itself.
//
//   open           a fresh bucket; `key` gives a per-key phase. False: the pool has no line
//   check          Green or Yellow: charging the same at the same instant succeeds
//   charge         spends what check() has admitted, and of what is Red as much as there is
//   use_at_least   charges so much that `units` are used, more than a fresh bucket has if need be
//   relieve        forgets a part of what was used. True: of the excess
//   used           what was used and has not come back, rounded up
//   wait           the least time after which the demand would be admitted; nullopt: never
//
// clang-format off
template <typename M>
concept Meter = requires(const M meter, Cell& cell, const Cell& as_is, LinePool& pool, Now now,
                         Demand demand) {
    { meter.open(cell, pool, GroupKey{}, now) } noexcept -> std::same_as<bool>;
    { meter.check(cell, pool, now, demand) } noexcept -> std::same_as<Conformance>;
    { meter.charge(cell, pool, now, Spending{}) } noexcept;
    { meter.use_at_least(cell, pool, now, Units{}) } noexcept;
    { meter.relieve(cell, pool, now, Relief{}) } noexcept -> std::same_as<bool>;
    { meter.used(as_is, pool, now) } noexcept -> std::same_as<Units>;
    { meter.wait(as_is, pool, now, demand) } noexcept -> std::same_as<std::optional<Nanoseconds>>;
};

// A meter whose cell names a line says by the line alone from when on the bucket equals a fresh
// one. Meters that need them have these too:
//
//   close, mend       the line leads to others: gives them all back; as RecordQueue::mend()
//   prefetch_oldest   the line leads to a queue, whose oldest record check() begins with
//   renumber          what was used means something else under other numbers
//   kMayHaveNoLine    some of its cells name no line
//
// The value that a unit shows is found out for those alone that needs_value() names.
template <typename M>
concept KeepsLines = requires(const M meter, const Cell& cell, const LinePool& pool, Now now) {
    { meter.fresh_from(cell, pool, now) } noexcept -> std::same_as<Instant>;
};
// clang-format on

template <typename M>
[[nodiscard]] constexpr bool may_have_no_line() noexcept {
    return requires { M::kMayHaveNoLine; };
}

}  // namespace sluice
