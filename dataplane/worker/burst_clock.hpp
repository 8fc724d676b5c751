#pragma once
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

// Turns the time-stamp counter into an Instant that continues CLOCK_BOOTTIME, between two readings
// of that clock. Never goes back, also when a new anchor lies behind the old one's extrapolation.
class BurstTime {
public:
    explicit BurstTime(std::uint64_t ticks_per_second) noexcept
        : ticks_per_second_{ticks_per_second} {}

    // `boot` was CLOCK_BOOTTIME when the counter read `ticks`.
    void anchor(std::uint64_t ticks, Instant boot) noexcept {
        anchor_ticks_ = ticks;
        anchor_ = boot;
    }
    // Whether a second has passed since the anchor was set.
    [[nodiscard]] bool wants_anchor(std::uint64_t ticks) const noexcept {
        return ticks - anchor_ticks_ >= ticks_per_second_;
    }
    [[nodiscard]] Instant at(std::uint64_t ticks) noexcept {
        constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
        const Wide elapsed =
            static_cast<Wide>(ticks - anchor_ticks_) * kNanosecondsPerSecond / ticks_per_second_;
        last_ = std::max(last_, anchor_ + Nanoseconds{static_cast<std::int64_t>(elapsed)});
        return last_;
    }

private:
    std::uint64_t ticks_per_second_;
    std::uint64_t anchor_ticks_ = 0;
    Instant anchor_{};
    Instant last_{};
};

// How far UTC is ahead of the instants. When the wall clock is set back, UTC stands still until it
// has caught up: a window that has begun does not begin again.
class UtcLead {
public:
    // As just read; it counts from the next at() on.
    void set(Nanoseconds ahead) noexcept { read_ = ahead; }

    // `now` never goes back.
    [[nodiscard]] Nanoseconds at(Instant now) noexcept {
        last_utc_ = std::max(last_utc_, now.time_since_epoch() + read_);
        return last_utc_ - now.time_since_epoch();
    }

private:
    Nanoseconds read_{};
    Nanoseconds last_utc_ = Nanoseconds::min();
};

}  // namespace sluice
