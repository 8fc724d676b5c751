#pragma once
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

// Turns the time-stamp counter into an Instant that goes on as CLOCK_BOOTTIME does, between two
// readings of that clock. Never goes back, also when a new anchor lies behind the old one's
// extrapolation.
class BurstTime {
public:
    explicit BurstTime(std::uint64_t ticks_per_second) noexcept
        : ticks_per_second_{ticks_per_second} {}

    // `boot` was CLOCK_BOOTTIME when the counter read `ticks`.
    void anchor(std::uint64_t ticks, Instant boot) noexcept {
        anchor_ticks_ = ticks;
        anchor_ = boot;
    }
    // True if a second has passed since the anchor was set.
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

}  // namespace sluice
