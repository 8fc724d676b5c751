#pragma once
#include "lib/base/units.hpp"

#include <algorithm>
#include <ctime>

#include <rte_cycles.h>

namespace sluice::bench {

// Time that this thread has run: it goes on by the time-stamp counter, and stands still while
// others have the processor. Whether they have had it is looked up where two readings lie further
// apart than any burst takes.
class RunningClock {
public:
    explicit RunningClock(Instant start) noexcept
        : start_{start}, first_{rte_rdtsc()}, last_{first_}, waited_{waits()} {}

    [[nodiscard]] Instant now() noexcept {
        const std::uint64_t ticks = rte_rdtsc();
        if (ticks - last_ > longest_) [[unlikely]] {
            left_out_ = std::max(left_out_, waits() - waited_);
        }
        last_ = ticks;
        return start_ + elapsed(ticks) - left_out_;
    }
    // Of all time since it began.
    [[nodiscard]] double share_left_out() const noexcept {
        return static_cast<double>(left_out_.count()) /
               static_cast<double>(std::max(elapsed(last_), Nanoseconds{1}).count());
    }

private:
    [[nodiscard]] static Nanoseconds read(clockid_t clock) noexcept {
        timespec time{};
        (void)::clock_gettime(clock, &time);
        return std::chrono::seconds{time.tv_sec} + Nanoseconds{time.tv_nsec};
    }
    [[nodiscard]] static Nanoseconds waits() noexcept {
        return read(CLOCK_MONOTONIC_RAW) - read(CLOCK_THREAD_CPUTIME_ID);
    }
    [[nodiscard]] Nanoseconds elapsed(std::uint64_t ticks) const noexcept {
        return Nanoseconds{
            static_cast<std::int64_t>(static_cast<double>(ticks - first_) * nanoseconds_a_tick_)};
    }

    double nanoseconds_a_tick_ = 1e9 / static_cast<double>(rte_get_tsc_hz());
    std::uint64_t longest_ = rte_get_tsc_hz() / 100'000;  // 10 us
    Instant start_;
    std::uint64_t first_;
    std::uint64_t last_;
    Nanoseconds waited_;
    Nanoseconds left_out_{};
};

}  // namespace sluice::bench
