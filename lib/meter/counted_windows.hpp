#pragma once
#include "lib/base/now.hpp"
#include "lib/meter/any_limit.hpp"
#include "lib/meter/cell.hpp"
#include "lib/meter/group_key.hpp"
#include "lib/meter/line_pool.hpp"
#include "lib/meter/window_counts.hpp"

// The counts of fixed and sliding windows, read and written from outside: for workers that add up
// what each of them has counted.
namespace sluice {

// In how many windows a unit of it counts; 0: not an algorithm whose windows all workers lay alike.
[[nodiscard]] inline unsigned windows_counted(const AnyLimit& limit) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        return fixed->phase == WindowPhase::First ? 0 : 1;
    }
    return std::holds_alternative<SlidingWindowLimit>(limit) ? 2 : 0;
}

// The rest is for limits that have such windows.

// As the current window has them: the later of the one that the clock says and the one in `cell`.
[[nodiscard]] WindowCounts counts_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                     Now now) noexcept;
// Those of a key that has not been seen.
[[nodiscard]] WindowCounts fresh_counts(const AnyLimit& limit, GroupKey key, Now now) noexcept;
// Counts that are no earlier and no smaller than those there are.
void set_counts(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                const WindowCounts& counts) noexcept;
// By how many units, rounded up, what counts now is more than the limit admits.
[[nodiscard]] std::uint64_t excess_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                      Now now) noexcept;

}  // namespace sluice
