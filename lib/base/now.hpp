#pragma once
#include "lib/base/units.hpp"

namespace sluice {

// The time of day for instants: how far UTC is ahead of them, and by how much it has been set back
// in all since they are told.
struct TimeOfDay {
    Nanoseconds utc_ahead{};
    Nanoseconds set_back{};
    [[nodiscard]] bool operator==(const TimeOfDay&) const noexcept = default;
};

// The time as a worker passes it down once per burst: the instant, which every algorithm uses, and
// the time of day, which windows aligned to the wall clock need. The reader of the clocks
// guarantees that `at` never decreases; UTC may, when it is set back.
struct Now {
    Instant at{};
    Nanoseconds utc_ahead{};
    Nanoseconds set_back{};

    // Since 1970-01-01T00:00:00Z.
    [[nodiscard]] constexpr Nanoseconds utc() const noexcept {
        return at.time_since_epoch() + utc_ahead;
    }
    // UTC as a row of windows of that length sees it, so that their numbers go on when UTC is set
    // back: ahead by as many whole windows as UTC was set back by. It is aligned as UTC is, and
    // goes back by less than one window.
    [[nodiscard]] constexpr Nanoseconds window_time(std::int64_t window) const noexcept {
        return utc() + Nanoseconds{set_back.count() / window * window};
    }
    [[nodiscard]] constexpr Now moved_to(Instant instant) const noexcept {
        return {instant, utc_ahead, set_back};
    }
};

}  // namespace sluice
