#include "lib/bucket/meter/any_meter.hpp"

#include "tests/unit/bucket/meter/oracles.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

// Every algorithm, through the one interface, against its oracle.
namespace sluice::any_meter_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kUtcAhead{1'700'000'000'123'456'789};
constexpr GroupKey kKey{0x0123'4567'89AB'CDEF};
constexpr Instant kLatest{Nanoseconds{std::int64_t{1} << 57}};

Now at(Instant instant) {
    return {.at = instant, .utc_ahead = kUtcAhead};
}

Limit gcra(const Inflow& flow) {
    return *Limit::make({.units = Units{flow.units}, .period = flow.period}, Units{flow.burst},
                        LeastBurst::Zero);
}
WindowNumbers window(std::uint64_t count, Nanoseconds length) {
    return *make_window_numbers(Units{count}, length);
}

struct Case {
    std::string name;
    AnyLimit limit;
    std::function<std::unique_ptr<Oracle>()> oracle;
    std::uint64_t largest_cost;
    std::vector<Nanoseconds> scales;  // times around whose multiples something happens

    friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

Case token_bucket(std::string name, const Inflow& flow, std::uint64_t largest_cost) {
    const Nanoseconds unit{flow.period.count() / static_cast<std::int64_t>(flow.units) + 1};
    const auto burst = static_cast<std::int64_t>(flow.burst);
    return {std::move(name),
            TokenBucketLimit{gcra(flow)},
            [flow] { return std::make_unique<TokenOracle>(flow); },
            largest_cost,
            {unit, unit * static_cast<std::int64_t>(largest_cost), unit * burst}};
}
Case leaky_bucket(std::string name, const Inflow& flow, std::uint64_t largest_cost) {
    Case made = token_bucket(std::move(name), flow, largest_cost);
    made.limit = LeakyBucketLimit{gcra(flow)};
    return made;
}
Case fixed(std::string name, std::uint64_t count, Nanoseconds length, WindowPhase phase,
           Nanoseconds offset) {
    const FixedWindowLimit limit = *make_fixed_window(
        window(count, length), phase, phase == WindowPhase::Clock ? offset : Nanoseconds{0});
    std::function<std::unique_ptr<Oracle>()> oracle = [=] {
        return std::make_unique<AlignedWindowOracle>(count, length, offset,
                                                     phase == WindowPhase::Clock);
    };
    if (phase == WindowPhase::First) {
        oracle = [=] { return std::make_unique<FirstWindowOracle>(count, length); };
    }
    return {std::move(name),
            limit,
            std::move(oracle),
            count / 3 + 2,
            {length, length / 7, length / 500}};
}
Case sliding(std::string name, std::uint64_t count, Nanoseconds length) {
    return {std::move(name),
            SlidingWindowLimit{window(count, length)},
            [=] { return std::make_unique<WeightedWindowOracle>(count, length); },
            count / 3 + 2,
            {length, length / 7, length / 500}};
}
Case counters(std::string name, std::uint64_t count, Nanoseconds length, std::uint32_t buckets,
              Edge edge) {
    return {std::move(name),
            *make_sliding_counters(window(count, length), buckets, edge),
            [=] {
                return std::make_unique<SubWindowOracle>(count, length, buckets,
                                                         edge == Edge::Strict);
            },
            count / 5 + 2,
            {length, length / buckets, length / (9 * buckets)}};
}
Case log(std::string name, std::uint64_t count, Nanoseconds length) {
    return {std::move(name),
            SlidingLogLimit{window(count, length)},
            [=] { return std::make_unique<LogOracle>(count, length); },
            count / 5 + 2,
            {length, length / 20, length / 400, 3ns}};
}
// Values of which nothing is known.
Case distinct(std::string name, std::uint64_t count, Nanoseconds length) {
    return {std::move(name),
            *make_distinct(Units{count}, length),
            [=] { return std::make_unique<HalvesOracle>(count, length); },
            count / 3 + 2,
            {length, length / 7, length / 500}};
}
Case color(std::string name, ColorVariant variant, ColorMode mode, const Inflow& first,
           const Inflow& second) {
    const Nanoseconds unit{first.period.count() / static_cast<std::int64_t>(first.units) + 1};
    const auto burst = static_cast<std::int64_t>(first.burst + second.burst);
    return {std::move(name),
            *ColorLimit::make(variant, mode, gcra(first), gcra(second)),
            [=] { return std::make_unique<ColorOracle>(variant, mode, first, second); },
            (first.burst + second.burst) / 3 + 2,
            {unit, unit * burst, unit * 2}};
}

// Its burst or count, and the same limit with another.
std::uint64_t fresh_units(const AnyLimit& limit) {
    LinePool pool{1};
    Cell cell;
    EXPECT_TRUE(open_bucket(cell, limit, pool, kKey, at(Instant{1s})));
    return remaining(cell, limit, pool, at(Instant{1s})).count();
}
template <typename Numbers>
AnyLimit with_units_of(Numbers numbers, std::uint64_t units) {
    if constexpr (requires { numbers.gcra; }) {
        const Limit& old = numbers.gcra;
        const auto period = static_cast<std::int64_t>(old.period());
        numbers.gcra = *Limit::make({.units = Units{old.parts()}, .period = Nanoseconds{period}},
                                    Units{std::min(units, std::uint64_t{1} << 20)});
    } else if constexpr (requires { numbers.numbers; }) {
        numbers.numbers.count = units;
    }
    return numbers;
}
AnyLimit with_units(const AnyLimit& limit, std::uint64_t units) {
    return std::visit([units](const auto& numbers) { return with_units_of(numbers, units); },
                      limit);
}

// Primes, one a day, 400 Gbit/s in bytes; windows from 1 ms to a year.
std::vector<Case> cases() {
    using enum ColorVariant;
    using enum ColorMode;
    const Nanoseconds hash_offset{static_cast<std::int64_t>(kKey.hash % 60'000'000'000)};
    return {
        token_bucket("token_50_per_s", {50, 1s, 200}, 3),
        token_bucket("token_1_per_day", {1, 24h, 3}, 4),
        token_bucket("token_400_gbit", {50'000'000'000, 1s, 1'000'000}, 100'000),
        token_bucket("token_prime", {16'777'213, 1s, 90'000}, 9'000),
        token_bucket("token_3_in_7s", {3, 7s, 4}, 2),
        leaky_bucket("leaky_odd", {9'973, 1min, 17}, 6),
        fixed("fixed_clock", 10, 1s, WindowPhase::Clock, 0s),
        fixed("fixed_clock_day_east", 100, 24h, WindowPhase::Clock, 19'800s),
        fixed("fixed_clock_west", 7, 1h, WindowPhase::Clock, -3'723s),
        fixed("fixed_first", 5, 1ms, WindowPhase::First, 0s),
        fixed("fixed_per_key", 9, 1min, WindowPhase::PerKey, hash_offset),
        fixed("fixed_year", kMostCount, kLongestWindow, WindowPhase::First, 0s),
        sliding("sliding_1ms", 10, 1ms),
        sliding("sliding_odd", 997, 1'234'567'891ns),
        sliding("sliding_one", 1, 1s),
        sliding("sliding_year", kMostCount, kLongestWindow),
        counters("counters_default", 50, 1s, 60, Edge::Strict),
        counters("counters_lenient", 50, 1s, 60, Edge::Lenient),
        counters("counters_odd", 40, 1'234'567'891ns, 7, Edge::Strict),
        counters("counters_single", 3, 1ms, 1, Edge::Strict),
        counters("counters_single_lenient", 3, 1ms, 1, Edge::Lenient),
        counters("counters_finest", 30, 3'600'001ns, 3600, Edge::Lenient),
        counters("counters_year", kMostCount, kLongestWindow, 3600, Edge::Strict),
        log("log_1s", 50, 1s),
        log("log_1ms", 3, 1ms),
        log("log_year", kMostCount, kLongestWindow),
        distinct("distinct_1s", 10, 1s),
        distinct("distinct_odd", 199, 1'234'567'891ns),
        distinct("distinct_day", 1, 24h),
        color("srtcm_blind", Rfc2697, Blind, {1000, 1s, 30}, {1000, 1s, 20}),
        color("srtcm_aware", Rfc2697, Aware, {9'973, 1s, 30}, {9'973, 1s, 50}),
        color("srtcm_no_excess", Rfc2697, Aware, {9'973, 1s, 30}, {9'973, 1s, 0}),
        color("srtcm_no_committed", Rfc2697, Aware, {7, 1min, 0}, {7, 1min, 30}),
        color("trtcm_blind", Rfc2698, Blind, {1000, 1s, 30}, {1700, 1s, 40}),
        color("trtcm_aware", Rfc2698, Aware, {1000, 1s, 30}, {1009, 1s, 10}),
        color("rfc4115_blind", Rfc4115, Blind, {1000, 1s, 30}, {333, 1s, 40}),
        color("rfc4115_aware", Rfc4115, Aware, {999, 1s, 5}, {5000, 1s, 40}),
        color("rfc4115_no_committed", Rfc4115, Aware, {1, 1s, 0}, {5000, 1s, 40}),
    };
}

// One bucket and its oracle, asked the same things.
class Pair {
public:
    Pair(const Case& c, std::uint64_t seed) : case_{c}, random_{seed}, oracle_{c.oracle()} {
        now_ = Instant{Nanoseconds{static_cast<std::int64_t>(draw(std::uint64_t{1} << 44))}};
        EXPECT_TRUE(open_bucket(cell_, c.limit, pool_, kKey, at(now_)));
    }

    void step() {
        now_ += gap();
        const std::uint64_t cost =
            draw(6) == 0 ? left(now_) + draw(3) : 1 + draw(case_.largest_cost);
        const Demand demand{Units{std::max<std::uint64_t>(cost, 1)}, static_cast<Color>(draw(3))};
        ASSERT_EQ(left(now_), oracle_->remaining(at(now_)));
        const Conformance said = check(cell_, case_.limit, pool_, at(now_), demand);
        ASSERT_EQ(said, oracle_->judge(at(now_), demand));
        ASSERT_EQ(left(now_), oracle_->remaining(at(now_)));
        check_wait(demand, said);
        spend(demand, said);
        check_freshness();
        forget_if_fresh();
    }

    [[nodiscard]] bool at_end() const { return now_ > kLatest - 3 * case_.scales[0]; }
    [[nodiscard]] int refusals() const { return refusals_; }

    void close() {
        close_bucket(cell_, case_.limit, pool_);
        EXPECT_EQ(pool_.free(), pool_.size());
    }

private:
    std::uint64_t draw(std::uint64_t below) { return random_() % below; }

    std::uint64_t left(Instant now) const {
        return remaining(cell_, case_.limit, pool_, at(now)).count();
    }

    // On, just before or just behind a multiple of what the algorithm steps by, or anywhere.
    Nanoseconds gap() {
        const Nanoseconds scale = std::max(case_.scales[draw(case_.scales.size())], Nanoseconds{2});
        const auto length = static_cast<std::uint64_t>(scale.count());
        switch (draw(7)) {
            case 0:
            case 1:
                return 0ns;
            case 2:
                return Nanoseconds{static_cast<std::int64_t>(draw(3))};
            case 3:
                return Nanoseconds{static_cast<std::int64_t>(draw(2 * length))};
            case 4: {
                const Nanoseconds to_edge = scale - now_.time_since_epoch() % scale;
                return std::max(to_edge + Nanoseconds{static_cast<std::int64_t>(draw(3)) - 1}, 0ns);
            }
            default:
                return Nanoseconds{static_cast<std::int64_t>(draw(length / 8 + 1))};
        }
    }

    // Without dropping anything, so that the bucket may be asked about the past again.
    [[nodiscard]] bool admitted_at(Instant when, Demand demand) {
        if (std::holds_alternative<ColorLimit>(case_.limit)) {
            return check(cell_, case_.limit, pool_, at(when), demand) != Conformance::Red;
        }
        return demand.cost.count() <= left(when);
    }

    void check_wait(Demand demand, Conformance said) {
        const auto pause = wait(cell_, case_.limit, pool_, at(now_), demand);
        if (said != Conformance::Red) {
            ASSERT_EQ(pause, 0ns);
            return;
        }
        ++refusals_;
        if (!pause) {
            ASSERT_EQ(oracle_->judge(at(kLatest + 9600h), demand), Conformance::Red);
            return;
        }
        ASSERT_GT(*pause, 0ns);
        ASSERT_FALSE(admitted_at(now_ + *pause - 1ns, demand));
        ASSERT_TRUE(admitted_at(now_ + *pause, demand));
        ASSERT_EQ(oracle_->judge(at(now_ + *pause - 1ns), demand), Conformance::Red);
        ASSERT_NE(oracle_->judge(at(now_ + *pause), demand), Conformance::Red);
        if (draw(8) == 0) {
            now_ += *pause;
            ASSERT_NE(check(cell_, case_.limit, pool_, at(now_), demand), Conformance::Red);
        }
    }

    void spend(Demand demand, Conformance said) {
        const std::uint64_t what = draw(8);
        if (what == 0) {
            charge(cell_, case_.limit, pool_, at(now_), {demand.cost, Conformance::Red});
            oracle_->drain(at(now_), demand.cost.count());
        } else if (what > 2 && said != Conformance::Red &&
                   check(cell_, case_.limit, pool_, at(now_), demand) == said) {
            charge(cell_, case_.limit, pool_, at(now_), {demand.cost, said});
            oracle_->spend(at(now_), {demand.cost, said});
        }
    }

    void check_freshness() {
        // Windows of the clock are kept for as long again, since nobody knows what sets it.
        const auto* fixed = std::get_if<FixedWindowLimit>(&case_.limit);
        const bool by_clock = fixed != nullptr && fixed->phase == WindowPhase::Clock;
        const Instant owes_until =
            cell_.fresh_from - Nanoseconds{by_clock ? fixed->numbers.window : 0};
        if (owes_until > now_) {
            ASSERT_FALSE(oracle_->fresh(at(owes_until - 1ns)));
        }
        ASSERT_TRUE(oracle_->fresh(at(std::max(cell_.fresh_from, now_))));
    }

    // Whoever is taken for forgotten goes on as a new bucket, and the oracle does not notice.
    void forget_if_fresh() {
        if (draw(50) == 0) {
            now_ = std::max(now_, cell_.fresh_from);
        }
        if (cell_.fresh_from <= now_ && draw(2) == 0) {
            close_bucket(cell_, case_.limit, pool_);
            ASSERT_EQ(pool_.free(), pool_.size());
            ASSERT_TRUE(open_bucket(cell_, case_.limit, pool_, kKey, at(now_)));
        }
    }

    const Case& case_;
    std::mt19937_64 random_;
    std::unique_ptr<Oracle> oracle_;
    LinePool pool_{4096};
    Cell cell_;
    Instant now_;
    int refusals_ = 0;
};

class EveryAlgorithm : public testing::TestWithParam<Case> {};

TEST_P(EveryAlgorithm, DoesAsItsOracle) {
    int refusals = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Pair pair{GetParam(), seed};
        for (int i = 0; i < 1500 && !pair.at_end() && !HasFatalFailure(); ++i) {
            pair.step();
            ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << " step " << i;
        }
        pair.close();
        refusals += pair.refusals();
    }
    EXPECT_GT(refusals, 50);
}

// A bucket that was used for a while at one instant after the other.
struct Used {
    const AnyLimit& limit;
    LinePool pool{4096};
    Cell cell;
    Now now{at(Instant{std::chrono::hours{24}})};

    Used(const Case& c, std::uint64_t seed) : limit{c.limit} {
        std::mt19937_64 random{seed};
        EXPECT_TRUE(open_bucket(cell, limit, pool, kKey, now));
        for (int i = 0; i < 30; ++i) {
            const Demand demand{Units{1 + random() % c.largest_cost},
                                static_cast<Color>(random() % 3)};
            const Conformance said = check(cell, limit, pool, now, demand);
            if (said != Conformance::Red) {
                charge(cell, limit, pool, now, {demand.cost, said});
            }
            const Nanoseconds scale = c.scales[random() % c.scales.size()] / 4 + 1ns;
            now.at += Nanoseconds{
                static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(scale.count()))};
        }
    }
    [[nodiscard]] std::uint64_t left(const AnyLimit& numbers) const {
        return remaining(cell, numbers, pool, now).count();
    }
};

TEST_P(EveryAlgorithm, LeavesAtMostWhatItIsTold) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Used bucket{GetParam(), seed};
        const std::uint64_t before = bucket.left(bucket.limit);
        for (const std::uint64_t most : {before + 1, before, before / 2, std::uint64_t{0}}) {
            leave_at_most(bucket.cell, bucket.limit, bucket.pool, bucket.now, Units{most});
            ASSERT_EQ(bucket.left(bucket.limit), std::min(before, most));
        }
        if (before != 0) {
            ASSERT_GT(bucket.cell.fresh_from, bucket.now.at);
        }
    }
}

// What was given back can be spent again, and a bucket gets no fuller than a fresh one. A weighted
// counter gives back whole units, at most one too few.
TEST_P(EveryAlgorithm, GivesBackWhatItIsTold) {
    const std::uint64_t full = fresh_units(GetParam().limit);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random{seed};
        Used bucket{GetParam(), seed};
        for (int i = 0; i < 4; ++i) {
            const std::uint64_t before = bucket.left(bucket.limit);
            const std::uint64_t units = random() % (GetParam().largest_cost + 1);
            const std::uint64_t expected = std::min(full, before + units);
            relieve(bucket.cell, bucket.limit, bucket.pool, bucket.now, {Units{units}});
            const std::uint64_t after = bucket.left(bucket.limit);
            if (std::holds_alternative<SlidingWindowLimit>(bucket.limit)) {
                ASSERT_LE(after, expected);
                ASSERT_GE(after + 1, expected);
            } else if (!std::holds_alternative<ColorLimit>(bucket.limit)) {
                ASSERT_EQ(after, expected);
            } else {
                ASSERT_GE(after, before);
            }
        }
        relieve(bucket.cell, bucket.limit, bucket.pool, bucket.now, {Units{kMostCount}});
        ASSERT_EQ(bucket.left(bucket.limit), full);
        ASSERT_TRUE(std::holds_alternative<SlidingWindowLimit>(bucket.limit) ||
                    bucket.cell.fresh_from <= bucket.now.at);
    }
}

// remaining = max(0, new - used); colour meters do so for each bucket and have a test of their own.
TEST_P(EveryAlgorithm, KeepsWhatWasUsedWhenItsNumbersChange) {
    if (std::holds_alternative<ColorLimit>(GetParam().limit)) {
        return;
    }
    const std::uint64_t full = fresh_units(GetParam().limit);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random{seed};
        const std::uint64_t most = std::min(full * 2, kMostCount);
        const AnyLimit changed = with_units(GetParam().limit, 1 + random() % most);
        const std::uint64_t new_full = fresh_units(changed);
        Used bucket{GetParam(), seed};
        const std::uint64_t used = full - bucket.left(bucket.limit);
        renumber(bucket.cell, bucket.limit, changed, bucket.pool, bucket.now);
        ASSERT_EQ(bucket.left(changed), new_full - std::min(used, new_full));
        // Restored, they leave all as it was.
        renumber(bucket.cell, changed, bucket.limit, bucket.pool, bucket.now);
        ASSERT_EQ(bucket.left(bucket.limit), full - used);
    }
}

// used = min(used, full), once: of connections that are open, and refusals, nothing is forgiven.
TEST_P(EveryAlgorithm, IsForgivenWhatItUsedBeyondItsNumbers) {
    if (std::holds_alternative<ColorLimit>(GetParam().limit)) {
        return;
    }
    const std::uint64_t full = fresh_units(GetParam().limit);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random{seed};
        const AnyLimit changed = with_units(GetParam().limit, 1 + random() % full);
        const std::uint64_t new_full = fresh_units(changed);
        Used bucket{GetParam(), seed};
        const std::uint64_t used_before = full - bucket.left(bucket.limit);
        renumber(bucket.cell, bucket.limit, changed, bucket.pool, bucket.now);
        const bool owes = used(bucket.cell, changed, bucket.pool, bucket.now).count() > new_full;
        EXPECT_EQ(relieve(bucket.cell, changed, bucket.pool, bucket.now, kExcess), owes);
        EXPECT_FALSE(relieve(bucket.cell, changed, bucket.pool, bucket.now, kExcess));
        ASSERT_EQ(bucket.left(changed), new_full - std::min(used_before, new_full));
        renumber(bucket.cell, changed, bucket.limit, bucket.pool, bucket.now);
        ASSERT_EQ(bucket.left(bucket.limit), full - std::min(used_before, new_full));
    }
}

TEST_P(EveryAlgorithm, OwesAtLeastWhatWasUsedElsewhere) {
    const std::uint64_t full = fresh_units(GetParam().limit);
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random{seed};
        Used bucket{GetParam(), seed};
        const std::uint64_t before = full - bucket.left(bucket.limit);
        const std::uint64_t more = random() % (std::min(full, kMostCount / 2) * 2);
        use_at_least(bucket.cell, bucket.limit, bucket.pool, bucket.now, Units{more});
        const Units after = used(bucket.cell, bucket.limit, bucket.pool, bucket.now);
        if (std::holds_alternative<ColorLimit>(bucket.limit)) {
            ASSERT_GE(after.count(), std::min(full, more));
        } else if (full <= kMostCount / 4) {
            ASSERT_EQ(after.count(), std::max(before, more));
        }
        ASSERT_EQ(bucket.left(bucket.limit), full - std::min(full, after.count()));
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, testing::ValuesIn(cases()),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(Scaled, MultipliesWhatABucketHoldsAndEarns) {
    for (const Case& c : cases()) {
        const Result<AnyLimit> made = scaled(c.limit, 16);
        if (c.name.ends_with("_year")) {
            ASSERT_FALSE(made.has_value());
            EXPECT_EQ(made.error().code, Errc::OutOfRange);
            EXPECT_NE(made.error().what.find("largest factor that fits is 1"), std::string::npos);
            continue;
        }
        ASSERT_TRUE(made.has_value()) << c.name << ": " << made.error().what;
        EXPECT_EQ(algorithm_of(*made), algorithm_of(c.limit));
        EXPECT_EQ(fresh_units(*made), 16 * fresh_units(c.limit)) << c.name;
        EXPECT_EQ(*scaled(c.limit, 1), c.limit);
    }
}

TEST(Scaled, RefusesWhatDoesNotFit) {
    const AnyLimit tokens = TokenBucketLimit{gcra({50, 1s, 200})};
    for (const std::uint64_t factor :
         {std::uint64_t{0}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
        ASSERT_FALSE(scaled(tokens, factor).has_value());
        EXPECT_EQ(scaled(tokens, factor).error().code, Errc::OutOfRange);
    }
    const auto fine = scaled(TokenBucketLimit{gcra({16'777'213, 1s, 200})}, 3);
    ASSERT_FALSE(fine.has_value());
    EXPECT_NE(fine.error().what.find("too fine"), std::string::npos) << fine.error().what;
    const auto twice = scaled(tokens, 2);
    EXPECT_EQ(std::get<TokenBucketLimit>(*twice).gcra, gcra({100, 1s, 400}));
}

// Time that goes back pays nobody.
TEST_P(EveryAlgorithm, PaysNothingForAClockThatStepsBack) {
    const AnyLimit& limit = GetParam().limit;
    LinePool pool{64};
    Cell cell;
    const Now now = at(Instant{std::chrono::hours{24 * 365}});
    ASSERT_TRUE(open_bucket(cell, limit, pool, kKey, now));
    leave_at_most(cell, limit, pool, now, Units{0});
    for (const Nanoseconds back : {Nanoseconds{1}, Nanoseconds{1s}, Nanoseconds{1h}}) {
        ASSERT_EQ(remaining(cell, limit, pool, at(now.at - back)), Units{0});
        ASSERT_EQ(check(cell, limit, pool, at(now.at - back), {Units{1}}), Conformance::Red);
    }
    ASSERT_EQ(remaining(cell, limit, pool, now), Units{0});
}

}  // namespace
}  // namespace sluice::any_meter_test
