#include "lib/meter/counted_windows.hpp"

#include "lib/meter/fixed_window.hpp"
#include "lib/meter/sliding_window.hpp"

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

std::uint64_t excess_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                        Now now) noexcept {
    if (const auto* fixed = std::get_if<FixedWindowLimit>(&limit)) {
        const std::uint64_t used = pool.at<FixedWindow>(cell.rest).counts(*fixed, now).current;
        return used - std::min(used, fixed->numbers.count);
    }
    const auto& sliding = std::get<SlidingWindowLimit>(limit);
    const std::uint64_t used = pool.at<SlidingWindow>(cell.rest).used(sliding, now.at);
    return used - std::min(used, sliding.numbers.count);
}

}  // namespace sluice
