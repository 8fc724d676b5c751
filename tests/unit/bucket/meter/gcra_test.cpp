#include "lib/bucket/meter/gcra.hpp"

#include "lib/base/wide.hpp"
#include "tests/unit/bucket/meter/oracles.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sluice::gcra_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{Nanoseconds{1'700'000'000'000'000}};

constexpr Instant kLatest{Nanoseconds{std::int64_t{1} << 56}};

Limit limit(std::uint64_t units, Nanoseconds period, std::uint64_t burst) {
    return *Limit::make({.units = Units{units}, .period = period}, Units{burst});
}

bool take(Gcra& bucket, const Limit& numbers, Instant now, std::uint64_t cost) {
    if (!admits(bucket, numbers, now, Units{cost})) {
        return false;
    }
    charge(bucket, numbers, now, Units{cost});
    return true;
}

struct Numbers {
    std::uint64_t units;
    Nanoseconds period;
    std::uint64_t burst;
    std::uint64_t largest_cost;
};

const Numbers kNumbers[] = {
    {1, 24h, 3, 1},
    {10, 1h, 5, 2},
    {50, 1s, 200, 3},
    {3, 7s, 4, 2},
    {9'999'991, 1s, 100'000, 1500},
    {2'500'000, 1s, 262'144, 9000},
    {50'000'000'000, 1s, 1'000'000, 65'535},
    {16'777'213, 1s, 2000, 1500},
    {1, 8s, 1, 1},
};

class GcraOracle : public testing::TestWithParam<Numbers> {};

// Gaps around the time a unit takes, so that decisions lie on both sides of the edge.
Nanoseconds gap(std::mt19937_64& random, const Numbers& n) {
    const auto unit = static_cast<std::uint64_t>(n.period.count()) / n.units * n.largest_cost + 2;
    switch (random() % 4) {
        case 0:
            return 0ns;
        case 1:
            return Nanoseconds{static_cast<std::int64_t>(random() % 3)};
        case 2:
            return Nanoseconds{static_cast<std::int64_t>(random() % (2 * unit))};
        default:
            return Nanoseconds{static_cast<std::int64_t>(random() % (unit * 2 * n.burst + 1))};
    }
}

TEST_P(GcraOracle, DecidesAsATokenBucketDoes) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random{seed};
        Gcra bucket;
        TokenOracle oracle{{n.units, n.period, n.burst}};
        Instant now = kStart;
        for (int i = 0; i < 2000 && now < kLatest; ++i) {
            now += gap(random, n);
            const std::uint64_t cost = 1 + random() % n.largest_cost;
            ASSERT_EQ(remaining(bucket, numbers, now).count(), oracle.remaining({now})) << i;
            const bool fits = oracle.judge({now}, {Units{cost}}) == Conformance::Green;
            ASSERT_EQ(take(bucket, numbers, now, cost), fits) << i;
            if (fits) {
                oracle.spend({now}, {Units{cost}});
            }
        }
    }
}

TEST_P(GcraOracle, WaitIsExactToTheNanosecond) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    std::mt19937_64 random{7};
    Gcra bucket;
    Instant now = kStart;
    int refused = 0;
    for (int i = 0; i < 2000 && now < kLatest; ++i) {
        const std::uint64_t cost = 1 + random() % n.largest_cost;
        if (take(bucket, numbers, now, cost)) {
            continue;
        }
        const std::optional<Nanoseconds> pause = wait(bucket, numbers, now, Units{cost});
        if (!pause) {
            ASSERT_GT(cost, n.burst);
            continue;
        }
        ++refused;
        ASSERT_FALSE(admits(bucket, numbers, now + *pause - 1ns, Units{cost}));
        ASSERT_TRUE(admits(bucket, numbers, now + *pause, Units{cost}));
        now += *pause;
    }
    EXPECT_GT(refused, 3);
}

// Whoever asks all the time never gets more than burst + rate * t, in any window.
TEST_P(GcraOracle, NeverAdmitsMoreThanBurstPlusRateTimesTime) {
    const Numbers& n = GetParam();
    const Limit numbers = limit(n.units, n.period, n.burst);
    const Nanoseconds step{n.period.count() / static_cast<std::int64_t>(n.units) / 3 + 1};
    Gcra bucket;
    std::vector<std::uint64_t> admitted;  // at kStart + i * step, running sum
    std::uint64_t sum = 0;
    for (int i = 0; i < 600; ++i) {
        while (take(bucket, numbers, kStart + i * step, 1)) {
            ++sum;
        }
        admitted.push_back(sum);
        if (sum > 2'000'000) {
            break;
        }
    }
    for (std::size_t from = 0; from < admitted.size(); from += 7) {
        const std::uint64_t before = from == 0 ? 0 : admitted[from - 1];
        for (std::size_t to = from; to < admitted.size(); ++to) {
            const auto time = static_cast<Wide>(to - from) * static_cast<Wide>(step.count());
            const Wide earned = time * n.units / static_cast<Wide>(n.period.count());
            ASSERT_LE(admitted[to] - before, n.burst + static_cast<std::uint64_t>(earned));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GcraOracle, testing::ValuesIn(kNumbers));

TEST(Gcra, AFullBucketAdmitsExactlyItsBurstAtOneInstant) {
    const Limit numbers = limit(50, 1s, 200);
    Gcra bucket;
    int admitted = 0;
    while (take(bucket, numbers, kStart, 1)) {
        ++admitted;
    }
    EXPECT_EQ(admitted, 200);
}

TEST(Gcra, ACostAboveTheBurstNeverFits) {
    const Limit numbers = limit(50, 1s, 200);
    EXPECT_FALSE(admits(Gcra{}, numbers, kStart, Units{201}));
    EXPECT_EQ(wait(Gcra{}, numbers, kStart, Units{201}), std::nullopt);
    EXPECT_TRUE(admits(Gcra{}, numbers, kStart, Units{200}));
}

TEST(Gcra, EqualsAFreshBucketFromTheInstantItNames) {
    const Limit numbers = limit(3, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, numbers, kStart, 7));
    const Instant fresh = bucket.fresh_from;
    EXPECT_EQ(remaining(bucket, numbers, fresh), Units{10});
    EXPECT_EQ(remaining(bucket, numbers, fresh - 1ns), Units{9});
}

TEST(Gcra, NeverPaysForAClockThatStepsBack) {
    const Limit numbers = limit(1000, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, numbers, kStart + 1s, 10));
    EXPECT_FALSE(take(bucket, numbers, kStart, 1));
    EXPECT_FALSE(take(bucket, numbers, kStart + 1s, 1));
    charge_what_fits(bucket, numbers, kStart, Units{1});
    EXPECT_FALSE(take(bucket, numbers, kStart + 1s, 1));
}

TEST(Gcra, WhatFitsIsChargedAndNoDebtBelowZero) {
    const Limit numbers = limit(3, 1s, 10);
    Gcra bucket;
    charge_what_fits(bucket, numbers, kStart, Units{7});
    EXPECT_EQ(remaining(bucket, numbers, kStart), Units{3});
    charge_what_fits(bucket, numbers, kStart + 100ms, Units{4});
    EXPECT_EQ(wait(bucket, numbers, kStart + 100ms, Units{1}), 333'333'334ns);
    charge_what_fits(bucket, numbers, kStart + 200ms, Units{1000});
    EXPECT_EQ(wait(bucket, numbers, kStart + 200ms, Units{1}), 333'333'334ns);
    EXPECT_EQ(wait(bucket, numbers, kStart + 200ms, Units{10}), 3'333'333'334ns);
}

TEST(Gcra, AtLeastSoManyAreUsed) {
    const Limit numbers = limit(3, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, numbers, kStart, 2));
    use_at_least(bucket, numbers, kStart, Units{1});
    EXPECT_EQ(remaining(bucket, numbers, kStart), Units{8});
    use_at_least(bucket, numbers, kStart, Units{5});
    EXPECT_EQ(remaining(bucket, numbers, kStart), Units{5});
    use_at_least(bucket, numbers, kStart + 100ms, Units{10});
    EXPECT_EQ(remaining(bucket, numbers, kStart + 100ms), Units{0});
}

// A queue that is served at the rate: each packet leaves when those before it have been served.
TEST(Gcra, APacketLeavesAfterThoseBeforeIt) {
    const Limit numbers = limit(3, 1s, 100);
    std::mt19937_64 random{3};
    Gcra bucket;
    Wide served = 0;  // when the queue is empty, in thirds of a ns
    for (Instant now = kStart; now < kStart + 20s;
         now += Nanoseconds{static_cast<std::int64_t>(random() % 500'000'000)}) {
        const std::uint64_t cost = 1 + random() % 2;
        const Wide here = passed({}, now) * 3;
        served = std::max(served, here);
        EXPECT_EQ(passed({}, departure(bucket, now)), (served + 2) / 3);
        ASSERT_TRUE(take(bucket, numbers, now, cost));
        served += cost * Wide{1'000'000'000};
    }
}

struct Change {
    Numbers before;
    Numbers after;
};

const Change kChanges[] = {
    {{50, 1s, 200, 1}, {50, 1s, 100, 1}},
    {{50, 1s, 200, 1}, {50, 1s, 300, 1}},
    {{50, 1s, 200, 1}, {1, 24h, 200, 1}},
    {{9'999'991, 1s, 1000, 1}, {3, 7s, 2000, 1}},
    {{3, 7s, 2000, 1}, {9'999'991, 1s, 1000, 1}},
    {{16'777'213, 1s, 65'536, 1}, {16'777'199, 1s, 65'536, 1}},
    {{50'000'000'000, 1s, 1'000'000, 1}, {1, 1s, 70'000'000, 1}},
};

// Used units are a fraction: debt / period before and after, compared by their cross products.
TEST(Gcra, RenumberingKeepsWhatWasUsedToAFractionOfAUnit) {
    std::mt19937_64 random{5};
    for (const Change& change : kChanges) {
        const Limit before = limit(change.before.units, change.before.period, change.before.burst);
        const Limit after = limit(change.after.units, change.after.period, change.after.burst);
        for (int i = 0; i < 500; ++i) {
            Gcra bucket;
            charge(bucket, before, kStart, Units{1 + random() % before.burst()});
            const auto debt_time = static_cast<std::uint64_t>((bucket.fresh_from - kStart).count());
            const Instant changed =
                kStart + Nanoseconds{static_cast<std::int64_t>(random() % (debt_time + 2))};
            const Wide old_debt = debt_of(bucket, before, changed);
            const std::uint64_t old_left = remaining(bucket, before, changed).count();
            renumber(bucket, before, after, changed);
            const Wide debt = debt_of(bucket, after, changed);
            const Wide used = old_debt * after.period();  // times both periods
            if (used < static_cast<Wide>(after.longest_debt()) * before.period()) {
                ASSERT_GE(debt * before.period(), used);
                ASSERT_TRUE(debt == 0 || (debt - 1) * before.period() < used);
            } else {
                ASSERT_EQ(debt, after.longest_debt());
            }
            const auto shifted = static_cast<std::int64_t>(old_left + after.burst()) -
                                 static_cast<std::int64_t>(before.burst());
            ASSERT_EQ(remaining(bucket, after, changed).count(),
                      static_cast<std::uint64_t>(std::max<std::int64_t>(shifted, 0)));
            ASSERT_LT(bucket.below, after.parts());
        }
    }
}

// Raised, lowered and restored: 600 of 1,000 stay used, whatever the numbers were in between.
TEST(Gcra, NumbersThatAreRestoredLeaveWhatWasUsed) {
    for (const std::uint64_t rate : {1U, 100U, 16'777'213U}) {
        const Limit numbers = limit(rate, 1s, 1000);
        Gcra bucket;
        ASSERT_TRUE(take(bucket, numbers, kStart, 600));
        const Limit steps[] = {numbers, limit(rate, 1s, 1200), limit(rate, 1s, 100),
                               limit(rate, 1h, 3), numbers};
        for (std::size_t i = 1; i < std::size(steps); ++i) {
            renumber(bucket, steps[i - 1], steps[i], kStart);
            EXPECT_EQ(used(bucket, steps[i], kStart), Units{600}) << rate << ' ' << i;
        }
        EXPECT_EQ(remaining(bucket, numbers, kStart), Units{400});
    }
}

// What does not fit the instants of a table's entry lasts as long as the longest debt that does.
TEST(Gcra, ADebtIsNeverLongerThanTheInstantsHold) {
    const Limit fast = limit(1'000'000'000, 1s, 1'000'000'000);
    for (const Limit& slow : {limit(1, 24h, 1), limit(16'777'213, 24h * 300, 1)}) {
        Gcra bucket;
        charge(bucket, fast, kStart, Units{fast.burst()});
        renumber(bucket, fast, slow, kStart);
        EXPECT_EQ(debt_of(bucket, slow, kStart), slow.longest_debt());
        EXPECT_LE(bucket.fresh_from - kStart, Nanoseconds{std::int64_t{1} << 56});
        EXPECT_EQ(remaining(bucket, slow, kStart), Units{0});
    }
}

// An entry that meets its numbers late has earned at the old rate only until they changed.
TEST(Gcra, RenumberingReadsTheInstantOfTheChange) {
    const Limit slow = limit(1, 1s, 10);
    const Limit fast = limit(10, 1s, 10);
    Gcra bucket;
    ASSERT_TRUE(take(bucket, slow, kStart, 10));
    renumber(bucket, slow, fast, kStart + 2s);
    EXPECT_EQ(remaining(bucket, fast, kStart + 2s), Units{2});
    EXPECT_EQ(remaining(bucket, fast, kStart + 2s + 500ms), Units{7});
    EXPECT_EQ(bucket.fresh_from, kStart + 2s + 800ms);
}

}  // namespace
}  // namespace sluice::gcra_test
