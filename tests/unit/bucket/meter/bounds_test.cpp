#include "lib/bucket/meter/any_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

// The most that each algorithm admits in any window, against an adversary that knows every edge,
// waits exactly as long as it must and takes all it can get.
namespace sluice::bounds_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{Nanoseconds{1'000'000'000'000}};

Limit gcra(std::uint64_t per_second, std::uint64_t burst) {
    return *Limit::make({.units = Units{per_second}, .period = 1s}, Units{burst});
}
WindowNumbers window(std::uint64_t count, Nanoseconds length) {
    return *make_window_numbers(Units{count}, length);
}

struct Admitted {
    Instant at;
    std::uint64_t units;
    Conformance conformance;
};

struct Adversary {
    AnyLimit limit;
    std::vector<Nanoseconds> steps;  // whose multiples it aims at
    std::uint64_t greed;             // takes this, or all there is, or 1

    [[nodiscard]] std::vector<Admitted> attack(std::uint64_t seed, int moves) const {
        std::mt19937_64 random{seed};
        LinePool pool{4096};
        Cell cell;
        Instant now = kStart;
        EXPECT_TRUE(open_bucket(cell, limit, pool, GroupKey{seed * 0x9E37'79B9'7F4A'7C15}, {now}));
        std::vector<Admitted> out;
        for (int i = 0; i < moves; ++i) {
            now = next(random, cell, pool, now);
            const std::uint64_t all = remaining(cell, limit, pool, {now}).count();
            const std::uint64_t wish = random() % 3 == 0 ? 1 : random() % 2 == 0 ? greed : all;
            const Demand demand{Units{std::max<std::uint64_t>(wish, 1)},
                                random() % 4 == 0 ? Color::Yellow : Color::Green};
            const Conformance said = check(cell, limit, pool, {now}, demand);
            if (said == Conformance::Green || said == Conformance::Yellow) {
                charge(cell, limit, pool, {now}, {demand.cost, said});
                out.push_back({now, demand.cost.count(), said});
            }
        }
        return out;
    }

private:
    Instant next(std::mt19937_64& random, const Cell& cell, const LinePool& pool,
                 Instant now) const {
        const Nanoseconds step = steps[random() % steps.size()];
        switch (random() % 6) {
            case 0: {
                const Demand one{Units{1 + random() % greed}};
                return now + wait(cell, limit, pool, {now}, one).value_or(0ns);
            }
            case 1:
            case 2: {
                const Nanoseconds edge = step - now.time_since_epoch() % step;
                const Nanoseconds aim{static_cast<std::int64_t>(random() % 3) - 1};
                return now + std::max(edge + aim, 0ns);
            }
            case 3:
                return now + Nanoseconds{static_cast<std::int64_t>(
                                 random() % static_cast<std::uint64_t>(step.count()))};
            default:
                return now;
        }
    }
};

// The most units in any half-open window of this length, of those judged alike. (Burst + rate * W
// is reached by a window that holds its end, so a half-open one sees one unit less.)
std::uint64_t most_in(const std::vector<Admitted>& all, Nanoseconds length, bool green_only) {
    std::uint64_t sum = 0;
    std::uint64_t most = 0;
    std::size_t from = 0;
    const auto counted = [green_only](const Admitted& one) {
        return green_only && one.conformance != Conformance::Green ? 0 : one.units;
    };
    for (const Admitted& one : all) {
        sum += counted(one);
        while (all[from].at + length <= one.at) {
            sum -= counted(all[from++]);
        }
        most = std::max(most, sum);
    }
    return most;
}

struct Row {
    std::string name;
    Adversary adversary;
    Nanoseconds length;   // W
    std::uint64_t bound;  // in W, as the rule language states it
    std::uint64_t reach;  // the adversary gets at least this far
    bool green_only = false;

    friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};

std::vector<Row> rows() {
    const Nanoseconds w = 1s;
    const std::vector<Nanoseconds> steps{w, w / 10, w / 60};
    const auto colors = [](ColorVariant variant, const Limit& first, const Limit& second) {
        return AnyLimit{*ColorLimit::make(variant, ColorMode::Aware, first, second)};
    };
    const AnyLimit one_rate = colors(ColorVariant::Rfc2697, gcra(100, 30), gcra(100, 20));
    const AnyLimit peak = colors(ColorVariant::Rfc2698, gcra(100, 30), gcra(150, 20));
    const AnyLimit excess = colors(ColorVariant::Rfc4115, gcra(100, 30), gcra(150, 20));
    const auto counters = [&](Edge edge) {
        return AnyLimit{*make_sliding_counters(window(50, w), 10, edge)};
    };
    const auto fixed = [&](WindowPhase phase) {
        return AnyLimit{*make_fixed_window(window(50, w), phase, 0s)};
    };
    return {
        // burst + rate * W
        {"token_bucket", {TokenBucketLimit{gcra(100, 30)}, steps, 7}, w, 130, 129},
        {"leaky_bucket", {LeakyBucketLimit{gcra(100, 30)}, steps, 7}, w, 130, 129},
        {"token_bucket_short", {TokenBucketLimit{gcra(100, 30)}, steps, 7}, w / 4, 55, 54},
        {"fixed_clock", {fixed(WindowPhase::Clock), steps, 50}, w, 100, 100},
        {"fixed_first", {fixed(WindowPhase::First), steps, 50}, w, 100, 99},
        {"fixed_per_key", {fixed(WindowPhase::PerKey), steps, 50}, w, 100, 99},
        // under 2 * count
        {"sliding_window", {SlidingWindowLimit{window(50, w)}, steps, 50}, w, 99, 98},
        {"counters_strict", {counters(Edge::Strict), steps, 50}, w, 50, 50},
        {"counters_lenient", {counters(Edge::Lenient), steps, 50}, w, 100, 100},
        {"counters_lenient_short", {counters(Edge::Lenient), steps, 50}, w - w / 10, 50, 50},
        // twice the count: of values that nobody has shown before
        {"distinct", {*make_distinct(Units{50}, w), steps, 50}, w, 100, 100},
        {"log", {SlidingLogLimit{window(50, w)}, steps, 50}, w, 50, 50},
        // RFC 2697: green CBS + CIR * t; all CBS + EBS + CIR * t
        {"srtcm_green", {one_rate, steps, 7}, w, 130, 120, true},
        {"srtcm_all", {one_rate, steps, 7}, w, 150, 149},
        // RFC 2698: green CBS + CIR * t; all PBS + PIR * t
        {"trtcm_green", {peak, steps, 7}, w, 130, 110, true},
        {"trtcm_all", {peak, steps, 7}, w, 170, 160},
        // RFC 4115: green CBS + CIR * t; all of both
        {"rfc4115_green", {excess, steps, 7}, w, 130, 120, true},
        {"rfc4115_all", {excess, steps, 7}, w, 300, 260},
    };
}

class Bound : public testing::TestWithParam<Row> {};

TEST_P(Bound, IsReachedAndNeverPassed) {
    const Row& row = GetParam();
    std::uint64_t most = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const std::vector<Admitted> all = row.adversary.attack(seed, 3000);
        const std::uint64_t got = most_in(all, row.length, row.green_only);
        ASSERT_LE(got, row.bound) << "seed " << seed;
        most = std::max(most, got);
    }
    EXPECT_GE(most, row.reach);
}

INSTANTIATE_TEST_SUITE_P(All, Bound, testing::ValuesIn(rows()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace sluice::bounds_test
