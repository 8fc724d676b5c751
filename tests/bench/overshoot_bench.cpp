#include "tests/unit/peer/merge/workers.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

// M2: what several workers together admit of one key, beside what the ledger promises, on a virtual
// clock: nothing here depends on the machine. Two arrivals, over workers, merge intervals and U:
//
//   at once   every millisecond each worker meets a whole bucket of packets at one instant, just
//             before amounts are due, and the bucket fills again now and then
//   rotating  three times the rate, each packet at the next worker; or nine tenths of it
//
// Of the latter also what is admitted of what should be, once all that the bucket had at first is
// spent and paid back: over so long that all that workers may be ahead by is at most 1 % of it
// (4 % where it is to be quick, 16 % of 64 workers), and for windows over whole ones.
//
// The same for windows: a bucket is a count, and a window as long as it takes the rate to give it.
namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRate = 100'000;  // units a second
constexpr Nanoseconds kTurn{20'000};

enum class What : std::uint8_t { Bucket, FixedWindow, SlidingWindow };

struct Case {
    std::size_t workers;
    Nanoseconds interval;
    std::uint64_t intervals_ahead;  // U = rate * so many merge intervals + one cost
    What what = What::Bucket;

    [[nodiscard]] std::uint64_t ahead() const {
        const auto ns = static_cast<std::uint64_t>(interval.count()) * intervals_ahead;
        return kRate * ns / 1'000'000'000 + 1;
    }
    // As small as may be merged.
    [[nodiscard]] std::uint64_t burst() const {
        return std::max<std::uint64_t>(2 * (workers - 1) * ahead(), 1'000);
    }
    [[nodiscard]] AnyLimit limit() const {
        if (what == What::Bucket) {
            return TokenBucketLimit{*Limit::make({Units{kRate}, 1s}, Units{burst()})};
        }
        const auto window = static_cast<std::int64_t>(burst() * 1'000'000'000 / kRate);
        const WindowNumbers numbers{.count = burst(), .window = window};
        return what == What::FixedWindow ? AnyLimit{FixedWindowLimit{.numbers = numbers}}
                                         : AnyLimit{SlidingWindowLimit{.numbers = numbers}};
    }
    [[nodiscard]] std::string text() const {
        static constexpr std::array<const char*, 3> kNames = {"", "fixed window, ",
                                                              "sliding window, "};
        return kNames[static_cast<std::size_t>(what)] + std::to_string(workers) +
               " workers, interval " + std::to_string(interval.count() / 1'000) + " us, U " +
               std::to_string(ahead());
    }
};

struct Measured {
    double of_promise = 0;
    double of_burst = 0;
};

class Run {
public:
    explicit Run(const Case& what)
        : what_{what},
          workers_{{.limit = what.limit(), .max_unsynced = what.ahead()},
                   {.workers = what.workers, .interval = what.interval}} {}

    void at_once(int milliseconds) {
        for (int i = 0; i < milliseconds; ++i) {
            for (; now_ < start_ + (i + 1) * 1ms; now_ += kTurn) {
                turns();
            }
            for (std::size_t worker = 0; worker < what_.workers; ++worker) {
                for (std::uint64_t k = 0; k < what_.burst(); ++k) {
                    (void)workers_.offer((worker + static_cast<std::size_t>(i)) % what_.workers, 0,
                                         1, now_);
                }
            }
            if (i % 20 == 19) {
                now_ += 10s;  // full again
                start_ += 10s;
            }
        }
    }
    // A packet every `gap`. What is admitted of min(offered, rate) in the steady state.
    double rotating(Nanoseconds gap, bool quick) {
        const Nanoseconds first = given_in(what_.burst() + 2 * workers_.promised_overshoot());
        (void)offer_until(now_ + 2 * first, gap);
        // Whole windows, where there are any.
        const std::int64_t whole = given_in(what_.burst()).count();
        const std::int64_t parts = now_.time_since_epoch().count() / whole + 1;
        const Instant begin{Nanoseconds{parts * whole}};
        (void)offer_until(begin, gap);
        const std::uint64_t times = !quick ? 100 : std::min<std::uint64_t>(25, 400 / what_.workers);
        const Nanoseconds least =
            std::max(given_in(times * workers_.promised_overshoot()), Nanoseconds{500ms});
        const Nanoseconds lasts{(least.count() / whole + 1) * whole};
        const auto admitted = static_cast<double>(offer_until(begin + lasts, gap));
        const double offered =
            static_cast<double>(lasts.count()) / static_cast<double>(gap.count());
        const double rate = static_cast<double>(lasts.count()) * kRate / 1e9;
        return admitted / std::min(offered, rate);
    }
    [[nodiscard]] Measured measured() const {
        const auto units = static_cast<double>(workers_.worst_overshoot());
        return {units / static_cast<double>(workers_.promised_overshoot()),
                units / static_cast<double>(what_.burst())};
    }

private:
    // How long the rate takes to give so much.
    static Nanoseconds given_in(std::uint64_t units) {
        return Nanoseconds{static_cast<std::int64_t>(units * (1'000'000'000 / kRate))};
    }
    // How many are admitted.
    std::uint64_t offer_until(Instant end, Nanoseconds gap) {
        std::uint64_t admitted = 0;
        for (; now_ < end; now_ += gap) {
            for (; turned_ <= now_; turned_ += kTurn) {
                turns();
            }
            admitted += workers_.offer(next_++ % what_.workers, 0, 1, now_) ? 1 : 0;
        }
        return admitted;
    }
    void turns() {
        for (std::size_t worker = 0; worker < what_.workers; ++worker) {
            workers_.poll(worker, now_);
        }
    }

    Instant start_{1s};
    Case what_;
    Workers workers_;
    Instant now_{1s};
    Instant turned_{1s};
    std::size_t next_ = 0;  // that a packet comes to
};

void show(const std::string& what, double value, const char* unit) {
    std::printf("{\"id\": \"M2\", \"case\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"}\n",
                what.c_str(), value, unit);
    std::fflush(stdout);
}

void measure(const Case& what, bool quick) {
    Run bursts{what};
    bursts.at_once(quick ? 40 : 200);
    const Measured at_once = bursts.measured();
    show("all at once, " + what.text(), at_once.of_promise, "of the promise");
    show("all at once, " + what.text(), at_once.of_burst, "of the burst");
    constexpr Nanoseconds kThreefold{1'000'000'000 / (3 * kRate)};
    constexpr Nanoseconds kNineTenths{10'000'000'000 / (9 * kRate)};
    Run flood{what};
    const double admitted = flood.rotating(kThreefold, quick);
    show("rotating, " + what.text(), flood.measured().of_promise, "of the promise");
    show("rotating, " + what.text(), admitted, "of min(offered, rate)");
    Run within{what};
    show("rotating below the rate, " + what.text(), within.rotating(kNineTenths, quick),
         "of min(offered, rate)");
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    using namespace std::chrono_literals;
    const bool quick = count > 1 && std::strcmp(arguments[1], "--quick") == 0;
    for (const std::size_t workers : {2U, 4U, 8U, 16U, 64U}) {
        sluice::bench::measure({workers, 1ms, 4}, quick);
    }
    for (const sluice::Nanoseconds interval : {250'000ns, 500'000ns, 2'000'000ns, 4'000'000ns}) {
        sluice::bench::measure({4, interval, 4}, quick);
    }
    for (const std::uint64_t ahead : {1U, 2U, 8U, 16U}) {
        sluice::bench::measure({4, 1ms, ahead}, quick);
    }
    for (const auto what : {sluice::bench::What::FixedWindow, sluice::bench::What::SlidingWindow}) {
        for (const std::size_t workers : {2U, 4U, 16U}) {
            sluice::bench::measure({workers, 1ms, 4, what}, quick);
        }
    }
    return 0;
}
