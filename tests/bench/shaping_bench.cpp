#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/running_clock.hpp"
#include "tests/bench/shaping_loop.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// shaping_bench [--quick] [A2]: how late packets depart that a worker holds, a million of them, at
// half of the load that it carries. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr int kRounds = 5;
constexpr std::uint32_t kKeys = 1U << 16;
constexpr std::uint32_t kPackets = 17 * kKeys;  // one of each key at a time may be on the wire
constexpr std::uint32_t kLeastHeld = 1'000'000;
constexpr std::uint64_t kAnyRate = 30;
// A wire that is a little faster than what departs, so that nothing piles up on it.
constexpr double kWire = 1.1;

// Packets a second that are received, held, and depart, with nothing in between.
double measure_most(bool quick) {
    const ShapingLoop::Load load{kKeys, kPackets, kAnyRate};
    ShapingLoop loop{load};
    SteppedClock clock{loop.now()};
    const double step = static_cast<double>(kMaxBurst) * 1e9 / load.packets_per_second();
    const std::size_t turns = (quick ? kPackets : 4 * kPackets) / kMaxBurst;
    std::vector<double> rounds;
    for (int round = 0; round < kRounds; ++round) {
        std::size_t departed = 0;
        const double all = cpu_ns_per(1, [&] {
            for (std::size_t i = 0; i < turns; ++i) {
                clock.at += Nanoseconds{static_cast<std::int64_t>(step)};
                loop.feed(kMaxBurst);
                departed += loop.poll(clock);
            }
        });
        rounds.push_back(all / static_cast<double>(departed));
    }
    const Side side{"", {}, rounds};
    std::printf(
        "{\"id\": \"A2\", \"case\": \"packets that are held and depart, as many as one "
        "worker carries, %u held\", \"value\": %.3f, \"unit\": \"Mpps\", \"rounds\": %s}\n",
        loop.held(), 1000 / side.median(), list_of(rounds).c_str());
    std::fflush(stdout);
    return 1e9 / side.median();
}

struct Rounds {
    std::vector<double> errors;  // p99, us
    std::vector<double> gaps;
    std::vector<double> left_out;
    std::uint32_t least_held = kPackets;
    std::uint64_t departed = 0;
};

void measure_round(ShapingLoop& loop, RunningClock& clock, double per_second, Nanoseconds lasts,
                   Rounds& rounds) {
    TimeHistogram gaps;
    TimeHistogram gaps_of_instants;  // of any instant the gap that it lies in
    loop.errors().clear();
    Instant last = clock.now();
    const Instant end = last + lasts;
    double on_wire = 0;
    while (last < end) {
        const Instant now = clock.now();
        gaps.add(now - last);
        gaps_of_instants.add(now - last, static_cast<std::uint64_t>((now - last).count()));
        on_wire += static_cast<double>((now - last).count()) * per_second * kWire / 1e9;
        last = now;
        const auto whole = static_cast<std::size_t>(on_wire);
        on_wire -= static_cast<double>(whole);
        loop.feed(whole);
        rounds.departed += loop.poll(clock);
        rounds.least_held = std::min(rounds.least_held, loop.held());
    }
    rounds.errors.push_back(loop.errors().quantile(0.99));
    rounds.gaps.push_back(gaps.quantile(0.99));
    rounds.left_out.push_back(clock.share_left_out());
    std::fprintf(stderr,
                 "  A2 departure errors: median %.1f us, p99 %.1f us, p99.9 %.1f us; gaps: p99 "
                 "%.1f us, p99.9 %.1f us; 99 %% of the time lay in gaps up to %.1f us; the thread "
                 "did not run in %.0f %% of the time\n",
                 loop.errors().quantile(0.5), rounds.errors.back(), loop.errors().quantile(0.999),
                 rounds.gaps.back(), gaps.quantile(0.999), gaps_of_instants.quantile(0.99),
                 100 * rounds.left_out.back());
}

void measure_departures(double most, bool quick) {
    const auto rate = static_cast<std::uint64_t>(most / 2 / kKeys);
    const ShapingLoop::Load load{kKeys, kPackets, std::max<std::uint64_t>(rate, 1)};
    ShapingLoop loop{load};
    const Nanoseconds lasts = std::chrono::milliseconds{quick ? 500 : 3000};
    Rounds rounds;
    Instant start = loop.now();
    for (int round = 0; round < kRounds; ++round) {
        RunningClock clock{start};
        measure_round(loop, clock, load.packets_per_second(), lasts, rounds);
        start = clock.now();
    }
    std::fprintf(stderr, "  A2 %.2f million departed in each round, %lu were dropped\n",
                 static_cast<double>(rounds.departed) / kRounds / 1e6, loop.dropped());
    if (rounds.least_held < kLeastHeld || loop.dropped() != 0) {
        std::fprintf(stderr, "  A2 %u were held\n", rounds.least_held);
        std::exit(1);
    }
    const Side errors{"", {}, rounds.errors};
    const Side gaps{"", {}, rounds.gaps};
    std::printf(
        "{\"id\": \"A2\", \"case\": \"p99 of how late packets depart, %.2f Mpps (half "
        "load), %u held at least\", \"value\": %.1f, \"unit\": \"us\", \"reference\": "
        "\"p99 of the loop's gaps\", \"reference_value\": %.1f, \"ratio\": %.3f, "
        "\"rounds\": %s}\n",
        load.packets_per_second() / 1e6, rounds.least_held, errors.median(), gaps.median(),
        errors.median() / gaps.median(), list_of(rounds.errors).c_str());
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    bool quick = false;
    for (int i = 1; i < count; ++i) {
        quick = quick || std::string_view{arguments[i]} == "--quick";
    }
    if (!sluice::bench::start_eal()) {
        return 1;
    }
    sluice::bench::measure_departures(sluice::bench::measure_most(quick), quick);
    return 0;
}
