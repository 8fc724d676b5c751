#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/tally.hpp"
#include "lib/bucket/meter/window_counts.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <span>

// The counts of fixed and sliding windows, read and written from outside: for workers that add up
// what each of them has counted.
namespace sluice {

// In how many windows a unit of it counts; 0: not an algorithm whose windows all workers lay alike.
[[nodiscard]] inline unsigned windows_counted(const AnyLimit& limit) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        return fixed->phase == WindowPhase::First ? 0 : 1;
    }
    if (std::holds_alternative<DayWindowLimit>(limit)) {
        return 1;
    }
    return std::holds_alternative<SlidingWindowLimit>(limit) ? 2 : 0;
}

// True if it counts in sub-windows, which are tallied.
[[nodiscard]] inline bool is_tallied(const AnyLimit& limit) noexcept {
    return std::holds_alternative<SlidingCountersLimit>(limit);
}

// The next functions are for limits that have windows.

// The counts in the current window: the later of the one that the clock says and the one in `cell`.
[[nodiscard]] WindowCounts counts_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                     Now now) noexcept;
// The counts of a key that has not been seen.
[[nodiscard]] WindowCounts fresh_counts(const AnyLimit& limit, GroupKey key, Now now) noexcept;
// Counts that are no earlier and no smaller than those there are.
void set_counts(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                const WindowCounts& counts) noexcept;

// The next functions are for limits that are tallied.
[[nodiscard]] Tally tally_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                             Now now) noexcept;
// Adds what another worker has spent.
void add_tallied(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                 const SpentBefore& spent) noexcept;
[[nodiscard]] std::uint64_t newest_of(const Cell& cell, const LinePool& pool) noexcept;
void raise_tally(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                 const TallyTotal& to) noexcept;
// After raise_tally() anew: so much of it was spent in an earlier sub-window; from the oldest on.
void move_tally_back(const Cell& cell, LinePool& pool, const SubWindow& earlier) noexcept;
// Notes what still counts of all sub-windows but the newest; returns the number of places filled.
[[nodiscard]] std::size_t earlier_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                     Now now, std::span<SubWindow> places) noexcept;

// A charge that nobody is told of: what others spend is not to be taken for it.
void disown(const Cell& cell, const AnyLimit& limit, LinePool& pool, Units units) noexcept;

// The excess of what counts now over what the limit admits, in units, rounded up; for both kinds.
[[nodiscard]] std::uint64_t excess_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                      Now now) noexcept;

}  // namespace sluice
