#include "lib/bucket/meter/window_limit.hpp"

#include <algorithm>

namespace sluice {

using namespace std::chrono_literals;

Result<WindowNumbers> make_window_numbers(Units count, Nanoseconds window) {
    if (count.count() == 0) {
        return Error{Errc::OutOfRange, "the count must be at least 1"};
    }
    if (count.count() > kMostCount) {
        return Error{Errc::OutOfRange, "the count is too large; the largest that fits is " +
                                           std::to_string(kMostCount)};
    }
    if (window < kShortestWindow) {
        return Error{Errc::OutOfRange, "the window is too short; the shortest is 1ms"};
    }
    if (window > kLongestWindow) {
        return Error{Errc::OutOfRange, "the window is too long; the longest is 366d"};
    }
    return WindowNumbers{.count = count.count(), .window = window.count()};
}

Result<FixedWindowLimit> make_fixed_window(WindowNumbers numbers, WindowPhase phase,
                                           Nanoseconds utc_offset) {
    if (utc_offset <= -24h || utc_offset >= 24h) {
        return Error{Errc::OutOfRange,
                     "the utc_offset must be less than a day; the nearest are -23:59 and +23:59"};
    }
    if (utc_offset != 0ns && phase != WindowPhase::Clock) {
        return Error{Errc::OutOfRange, "utc_offset is for phase clock; with the others it is 0"};
    }
    return FixedWindowLimit{.numbers = numbers, .phase = phase, .utc_offset = utc_offset.count()};
}

Result<DayWindowLimit> make_day_window(WindowNumbers numbers, KeptZone zone) {
    if (!zone) {
        return Error{Errc::TooMany, "too many time zones"};
    }
    if (numbers.window % Nanoseconds{24h}.count() != 0) {
        return Error{Errc::OutOfRange,
                     "with a zone the window is whole days, each from midnight to midnight there, "
                     "such as 1d or 7d"};
    }
    return DayWindowLimit{.numbers = numbers, .zone = zone};
}

Result<SlidingCountersLimit> make_sliding_counters(WindowNumbers numbers, std::uint32_t buckets,
                                                   Edge edge) {
    if (buckets == 0) {
        return Error{Errc::OutOfRange, "a window has at least 1 bucket"};
    }
    const std::int64_t most =
        std::min<std::int64_t>(kMostSubWindows, numbers.window / kShortestSubWindow.count());
    if (buckets > most) {
        return Error{Errc::OutOfRange, "too many buckets for this window; the most that fit are " +
                                           std::to_string(most)};
    }
    return SlidingCountersLimit{.numbers = numbers, .buckets = buckets, .edge = edge};
}

Result<WindowNumbers> WindowNumbers::checked() const {
    return make_window_numbers(Units{count}, Nanoseconds{window});
}

Result<FixedWindowLimit> FixedWindowLimit::checked() const {
    if (clock == WindowClock::Utc && phase != WindowPhase::PerKey) {
        return Error{Errc::OutOfRange, "windows by UTC are those of phase clock and per_key"};
    }
    Result<FixedWindowLimit> made = make_fixed_window(numbers, phase, Nanoseconds{utc_offset});
    if (made) {
        made->clock = clock;
    }
    return made;
}

Result<DayWindowLimit> DayWindowLimit::checked() const {
    return make_day_window(numbers, zone);
}

Result<SlidingCountersLimit> SlidingCountersLimit::checked() const {
    return make_sliding_counters(numbers, buckets, edge);
}

}  // namespace sluice
