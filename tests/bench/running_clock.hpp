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
        std::uint64_t ticks = rte_rdtsc();
        if (ticks - last_ > longest_) [[unlikely]] {
            left_out_ = std::max(left_out_, waits() - waited_);
            ticks = rte_rdtsc();
        }
        last_ = ticks;
        latest_ = std::max(latest_, start_ + elapsed(ticks) - left_out_);
        return latest_;
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
    // Read again where others had the processor in between.
    [[nodiscard]] static Nanoseconds waits() noexcept {
        for (;;) {
            const Nanoseconds before = read(CLOCK_MONOTONIC_RAW);
            const Nanoseconds ran = read(CLOCK_THREAD_CPUTIME_ID);
            const Nanoseconds behind = read(CLOCK_MONOTONIC_RAW);
            if (behind - before < std::chrono::microseconds{5}) {
                return behind - ran;
            }
        }
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
    Instant latest_{};
};

}  // namespace sluice::bench
