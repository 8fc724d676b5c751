#include "dataplane/worker.hpp"

#include "lib/pipeline/run_burst.hpp"

#include <ctime>

#include <rte_cycles.h>
#include <rte_pause.h>

namespace sluice {
namespace {

constexpr unsigned kIdleRoundsBeforeSleep = 64;

Instant read_boot_time() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_BOOTTIME, &now);
    return Instant{std::chrono::seconds{now.tv_sec} + Nanoseconds{now.tv_nsec}};
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
    time_.anchor(rte_rdtsc(), read_boot_time());
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
            lane.send(burst, running.rules, core_.counters);
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

// The clock itself is asked once a second (through the vDSO, not by a system call).
Instant Worker::now() noexcept {
    const std::uint64_t ticks = rte_rdtsc();
    if (time_.wants_anchor(ticks)) [[unlikely]] {
        time_.anchor(ticks, read_boot_time());
    }
    return time_.at(ticks);
}

void Worker::rest(unsigned idle_rounds) const noexcept {
    if (setup_.idle_sleep.count() != 0 && idle_rounds >= kIdleRoundsBeforeSleep) {
        rte_delay_us_sleep(static_cast<unsigned>(setup_.idle_sleep.count()));
    } else {
        rte_pause();
    }
}

}  // namespace sluice
