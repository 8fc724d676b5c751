#include "dataplane/worker.hpp"

#include "lib/pipeline/run_burst.hpp"

#include <ctime>

#include <rte_cycles.h>
#include <rte_pause.h>

namespace sluice {
namespace {

constexpr unsigned kIdleRoundsBeforeSleep = 64;

Nanoseconds read_clock(clockid_t clock) noexcept {
    timespec now{};
    (void)::clock_gettime(clock, &now);
    return std::chrono::seconds{now.tv_sec} + Nanoseconds{now.tv_nsec};
}

// Forwards everything as it came.
void pass_all(Burst& burst, Reason reason) noexcept {
    for (Packet& packet : burst.packets()) {
        packet.decision = {.verdict = Verdict::Pass, .reason = reason};
    }
}

}  // namespace

Worker::Worker(CoreToken me, const WorkerSetup& setup, CoreState core, std::vector<DpdkIo> lanes)
    : me_{std::move(me)},
      setup_{setup},
      core_{std::move(core)},
      lanes_{std::move(lanes)},
      time_{rte_get_tsc_hz()} {}

void Worker::run() noexcept {
    setup_.board.join(me_.index());
    read_clocks(rte_rdtsc());
    Burst burst;
    unsigned idle_rounds = 0;
    while (!setup_.stop.raised()) {
        idle_rounds = round(burst) == 0 ? idle_rounds + 1 : 0;
        core_.counters.bursts.add(1);
        setup_.board.quiescent(me_.index());
        if (idle_rounds != 0) {
            rest(idle_rounds);
        }
    }
    setup_.board.leave(me_.index());
}

std::size_t Worker::round(Burst& burst) noexcept {
    const Running& running = setup_.running.adopt();
    std::size_t frames = 0;
    for (DpdkIo& lane : lanes_) {
        if (lane.receive(burst) != 0) {
            frames += burst.size();
            judge(burst, running);
            lane.send(burst, core_.counters);
        }
    }
    return frames;
}

void Worker::judge(Burst& burst, const Running& running) noexcept {
    switch (running.state) {
        case Running::State::Enforce:
            run_burst(burst, running.rules, core_, now());
            break;
        case Running::State::Panic:
            pass_all(burst, Reason::Panic);
            break;
        default:
            pass_all(burst, Reason::NoRules);
            break;
    }
}

Now Worker::now() noexcept {
    const std::uint64_t ticks = rte_rdtsc();
    if (time_.wants_anchor(ticks)) [[unlikely]] {
        read_clocks(ticks);
    }
    const Instant at = time_.at(ticks);
    return {at, utc_.at(at)};
}

// Once a second (through the vDSO, not by system calls).
void Worker::read_clocks(std::uint64_t ticks) noexcept {
    const Nanoseconds boot = read_clock(CLOCK_BOOTTIME);
    time_.anchor(ticks, Instant{boot});
    utc_.set(read_clock(CLOCK_REALTIME) - boot);
}

void Worker::rest(unsigned idle_rounds) const noexcept {
    if (setup_.idle_sleep.count() != 0 && idle_rounds >= kIdleRoundsBeforeSleep) {
        rte_delay_us_sleep(static_cast<unsigned>(setup_.idle_sleep.count()));
    } else {
        rte_pause();
    }
}

}  // namespace sluice
