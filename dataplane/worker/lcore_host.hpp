#pragma once
#include "dataplane/read_clock.hpp"
#include "dataplane/worker/burst_clock.hpp"
#include "dataplane/worker/quiesce.hpp"
#include "lib/base/now.hpp"
#include "lib/share/core.hpp"
#include "lib/share/latest.hpp"

#include <cstddef>
#include <cstdint>

#include <rte_cycles.h>
#include <rte_pause.h>

namespace sluice {

// The part that the hosts of all workers share.
struct LcoreSetup {
    QuiesceBoard& board;
    const Signal& stop;
    Nanoseconds idle_sleep;  // 0: a worker without frames polls all the same
    Nanoseconds clock_lead;  // of instants over CLOCK_BOOTTIME
    const Latest<TimeOfDay>& time_of_day;
};

// A worker's lcore (WorkerHost): the time-stamp counter is its clock, the board knows its turns.
class LcoreHost {
public:
    struct ReadTicks {
        std::uint64_t operator()() const noexcept { return rte_rdtsc(); }
    };

    LcoreHost(std::size_t worker, const LcoreSetup& setup) noexcept
        : worker_{worker}, setup_{setup}, time_{rte_get_tsc_hz()} {
        anchor(rte_rdtsc());
    }

    [[nodiscard]] Now now() noexcept {
        const std::uint64_t ticks = rte_rdtsc();
        if (time_.wants_anchor(ticks)) [[unlikely]] {
            anchor(ticks);
        }
        const TimeOfDay time_of_day = setup_.time_of_day.get();
        return {time_.at(ticks), time_of_day.utc_ahead, time_of_day.set_back};
    }

    void begin() noexcept {
        setup_.board.join(worker_);
        anchor(rte_rdtsc());
    }
    [[nodiscard]] bool stopped() const noexcept { return setup_.stop.raised(); }
    void pass() noexcept { setup_.board.quiescent(worker_); }
    void end() noexcept { setup_.board.leave(worker_); }

    void rest(unsigned idle_turns) const noexcept {
        if (setup_.idle_sleep.count() != 0 && idle_turns >= kIdleTurnsBeforeSleep) {
            rte_delay_us_sleep(
                static_cast<unsigned>(setup_.idle_sleep / std::chrono::microseconds{1}));
        } else {
            rte_pause();
        }
    }

private:
    static constexpr unsigned kIdleTurnsBeforeSleep = 64;

    // Once a second (through the vDSO, not by system calls).
    void anchor(std::uint64_t ticks) noexcept {
        time_.anchor(ticks, Instant{read_clock(CLOCK_BOOTTIME) + setup_.clock_lead});
    }

    std::size_t worker_;
    LcoreSetup setup_;
    BurstTime time_;
};

}  // namespace sluice
