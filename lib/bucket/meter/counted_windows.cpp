#include "lib/bucket/meter/counted_windows.hpp"

#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_window.hpp"
#include "lib/bucket/meter/window_time.hpp"

#include <algorithm>
#include <type_traits>

namespace sluice {
namespace {

// `operation` of the state and numbers of a window in one line, and of the time that it goes by.
template <typename Operation>
auto with_window(const AnyLimit& limit, Now now, Operation&& operation) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        return operation(std::type_identity<FixedWindow>{}, *fixed, now);
    }
    if (const auto* days = std::get_if<DayWindowLimit>(&limit)) {
        return operation(std::type_identity<FixedWindow>{}, *days, now);
    }
    const auto& sliding = std::get<SlidingWindowLimit>(limit);
    return operation(std::type_identity<SlidingWindow>{}, sliding, time_for(sliding, now));
}

FixedWindow fresh_window(const FixedNumbers auto& limit, GroupKey key) noexcept {
    return FixedWindow::fresh(limit, key);
}
SlidingWindow fresh_window(const SlidingWindowLimit& /*limit*/, GroupKey /*key*/) noexcept {
    return {};
}

}  // namespace

WindowCounts counts_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                       Now now) noexcept {
    return with_window(
        limit, now,
        [&]<typename State>(std::type_identity<State>, const auto& numbers, auto time) noexcept {
            return pool.at<State>(cell.rest).counts(numbers, time);
        });
}

WindowCounts fresh_counts(const AnyLimit& limit, GroupKey key, Now now) noexcept {
    return with_window(limit, now, [&](auto, const auto& numbers, auto time) noexcept {
        return fresh_window(numbers, key).counts(numbers, time);
    });
}

void set_counts(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                const WindowCounts& counts) noexcept {
    with_window(limit, now,
                [&]<typename State>(std::type_identity<State>, const auto& numbers, auto) noexcept {
                    State& window = pool.at<State>(cell.rest);
                    window.set_counts(counts);
                    cell.fresh_from = fresh_instant(window, numbers, now);
                });
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
    const auto beyond = [](std::uint64_t used, std::uint64_t count) noexcept {
        return used - std::min(used, count);
    };
    if (const auto* counters = std::get_if<SlidingCountersLimit>(&limit)) {
        return beyond(tally_of(cell, limit, pool, now).sum, counters->numbers.count);
    }
    return with_window(
        limit, now,
        [&]<typename State>(std::type_identity<State>, const auto& numbers, auto time) noexcept {
            return beyond(pool.at<State>(cell.rest).used(numbers, time).count(),
                          numbers.numbers.count);
        });
}

}  // namespace sluice
