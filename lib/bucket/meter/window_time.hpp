#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/sliding_window.hpp"

#include <algorithm>

// The time that each kind of window goes by, and back from it to instants.
namespace sluice {

// One time is enough for a sliding window: the box's instants, or UTC written as one. A fixed
// window wants to know both.
[[nodiscard]] inline Instant time_for(const SlidingWindowLimit& limit, Now now) noexcept {
    if (limit.is_by_utc()) [[unlikely]] {
        return Instant{now.window_time(limit.numbers.window)};
    }
    return now.at;
}
[[nodiscard]] inline Now time_for(const FixedNumbers auto& /*limit*/, Now now) noexcept {
    return now;
}

// The instant from which on a window equals a fresh one. Of a sliding one by UTC a window later
// than its clock says, as of a fixed one: that may be set back meanwhile.
[[nodiscard]] inline Instant fresh_instant(const SlidingWindow& window,
                                           const SlidingWindowLimit& limit, Now now) noexcept {
    if (!limit.is_by_utc()) [[likely]] {
        return window.fresh_from(limit, now.at);
    }
    const Instant time{now.window_time(limit.numbers.window)};
    const Nanoseconds left = window.fresh_from(limit, time) - time;
    return left == Nanoseconds{0}
               ? now.at
               : now.at + std::min(left + Nanoseconds{limit.numbers.window}, limit.longest_debt());
}
[[nodiscard]] inline Instant fresh_instant(const FixedWindow& window,
                                           const FixedNumbers auto& limit, Now now) noexcept {
    return window.fresh_from(limit, now);
}

}  // namespace sluice
