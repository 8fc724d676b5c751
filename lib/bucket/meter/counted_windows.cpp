#include "lib/bucket/meter/counted_windows.hpp"

#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_window.hpp"

namespace sluice {

WindowCounts counts_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                       Now now) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        return pool.at<FixedWindow>(cell.rest).counts(*fixed, now);
    }
    return pool.at<SlidingWindow>(cell.rest).counts(std::get<SlidingWindowLimit>(limit), now.at);
}

WindowCounts fresh_counts(const AnyLimit& limit, GroupKey key, Now now) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        return FixedWindow::fresh(*fixed, key).counts(*fixed, now);
    }
    return SlidingWindow{}.counts(std::get<SlidingWindowLimit>(limit), now.at);
}

void set_counts(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                const WindowCounts& counts) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        FixedWindow& window = pool.at<FixedWindow>(cell.rest);
        window.set_counts(counts);
        cell.fresh_from = window.fresh_from(*fixed, now);
        return;
    }
    const auto& sliding = std::get<SlidingWindowLimit>(limit);
    SlidingWindow& window = pool.at<SlidingWindow>(cell.rest);
    window.set_counts(counts);
    cell.fresh_from = window.fresh_from(sliding, now.at);
}

Tally tally_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now) noexcept {
    const SubWindowSlots slots{std::get<SlidingCountersLimit>(limit)};
    return pool.at<SlidingCounters>(cell.rest).tally(slots, pool, now.at);
}

void add_tallied(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                 const SpentBefore& spent) noexcept {
    const SubWindowSlots slots{std::get<SlidingCountersLimit>(limit)};
    SlidingCounters& counters = pool.at<SlidingCounters>(cell.rest);
    counters.add(slots, pool, now.at, spent);
    cell.fresh_from = counters.fresh_from(slots, now.at);
}

void raise_tally(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                 const TallyTotal& to) noexcept {
    const SubWindowSlots slots{std::get<SlidingCountersLimit>(limit)};
    SlidingCounters& counters = pool.at<SlidingCounters>(cell.rest);
    counters.raise(slots, pool, now.at, to);
    cell.fresh_from = counters.fresh_from(slots, now.at);
}

std::uint64_t newest_of(const Cell& cell, const LinePool& pool) noexcept {
    return pool.at<SlidingCounters>(cell.rest).newest();
}

void move_tally_back(const Cell& cell, LinePool& pool, const SubWindow& earlier) noexcept {
    pool.at<SlidingCounters>(cell.rest).move_back(pool, earlier);
}

std::size_t earlier_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now,
                       std::span<SubWindow> places) noexcept {
    const SubWindowSlots slots{std::get<SlidingCountersLimit>(limit)};
    return pool.at<SlidingCounters>(cell.rest).earlier(slots, pool, now.at, places);
}

void disown(const Cell& cell, const AnyLimit& limit, LinePool& pool, Units units) noexcept {
    if (is_tallied(limit)) {
        pool.at<SlidingCounters>(cell.rest).disown(units);
    }
}

std::uint64_t excess_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                        Now now) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        const std::uint64_t used = pool.at<FixedWindow>(cell.rest).counts(*fixed, now).current;
        return used - std::min(used, fixed->numbers.count);
    }
    if (const auto* counters = std::get_if<SlidingCountersLimit>(&limit)) {
        const std::uint64_t used = tally_of(cell, limit, pool, now).sum;
        return used - std::min(used, counters->numbers.count);
    }
    const auto& sliding = std::get<SlidingWindowLimit>(limit);
    const std::uint64_t used = pool.at<SlidingWindow>(cell.rest).used(sliding, now.at).count();
    return used - std::min(used, sliding.numbers.count);
}

}  // namespace sluice
