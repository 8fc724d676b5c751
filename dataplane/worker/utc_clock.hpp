#pragma once
#include "lib/base/now.hpp"
#include "lib/share/core.hpp"
#include "lib/share/latest.hpp"
#include "lib/wire/message.hpp"

namespace sluice {

// UTC beside the instants, for all workers alike: the main lcore reads both clocks, and workers
// pick up between any two bursts what it has found. Windows that several workers add up have the
// same numbers on each of them so.
//
// Both clocks run at one speed. The lead of UTC changes only when somebody sets it: that is counted
// and said, and Now::window_time() goes on from where it was.
class UtcClock {
public:
    // One reading: CLOCK_BOOTTIME as an instant, and how far UTC was ahead of it then.
    struct Reading {
        Instant at{};
        Nanoseconds utc_ahead{};
    };
    // `clock_lead`: of instants over CLOCK_BOOTTIME.
    [[nodiscard]] static Reading read(Nanoseconds clock_lead) noexcept;

    explicit UtcClock(const Reading& first) noexcept
        : time_of_day_{{.utc_ahead = first.utc_ahead}}, known_{time_of_day_.get()} {}

    // The next reading. Differences below a millisecond are those of two readings of two clocks.
    void note(const Reading& reading);

    [[nodiscard]] const Latest<TimeOfDay>& time_of_day() const noexcept { return time_of_day_; }
    [[nodiscard]] ClockStats stats() const noexcept;

private:
    Latest<TimeOfDay> time_of_day_;
    TimeOfDay known_;
    ClockStats stats_;
    Instant at_{};
    bool ended_ = false;
};

}  // namespace sluice
