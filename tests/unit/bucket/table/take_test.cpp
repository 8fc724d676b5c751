#include "lib/bucket/table/take.hpp"
#include "lib/bucket/table/own_bucket.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace sluice::take_test {
namespace {

using namespace std::chrono_literals;

struct Numbers {
    std::uint64_t units;
    Nanoseconds period;
    std::uint64_t burst;
    std::uint64_t largest_cost;
};

// With a whole number of ns per unit and without, down to the longest debt there can be.
const Numbers kNumbers[] = {
    {1, 24h, 3, 3},
    {50, 1s, 200, 3},
    {1'000'000, 1s, 100, 5},
    {3, 7s, 4, 2},
    {125'000'000, 1s, 200'000, 65'535},
    {9'999'991, 1s, 100'000, 1500},
    {16'777'213, 1s, 2000, 1500},
    {1, 24h, 833, 833},
    {1, 8s, 1, 1},
};

constexpr int kAsked = 20'000;

class Take : public testing::TestWithParam<Numbers> {};

// In one step on the entry, or in two on a bucket: the same answers and the same state, and what
// else the entry holds stays.
TEST_P(Take, IsAdmitsAndCharge) {
    const Numbers& n = GetParam();
    const Limit limit = *Limit::make({Units{n.units}, n.period}, Units{n.burst});
    const auto unit = static_cast<std::uint64_t>(n.period.count()) / n.units + 2;
    // So that all of it takes no more than two years.
    const std::uint64_t longest =
        std::min(2 * unit * n.largest_cost, (std::uint64_t{1} << 56) / kAsked);
    std::mt19937_64 random{n.units};
    Instant now{1h};
    Entry entry;
    const TableKey key{GroupKey{random()}, 77};
    entry.file({now, 0}, key.slot_and_tag, {.version = 5, .aggregation_level = 1});
    Gcra bucket{now, 0};
    std::size_t admitted = 0;
    std::size_t refused = 0;
    for (int i = 0; i < kAsked; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % longest)};
        const Units cost{1 + random() % (n.largest_cost + (i % 64 == 0 ? n.burst : 0))};
        const bool admitted_it = admits(bucket, limit, now, cost);
        ASSERT_EQ(fits(entry, limit, now, cost), admitted_it) << i;
        OwnBucket own;
        own.set(limit, Nanoseconds::max());
        own.state = bucket;
        const std::optional<Gcra> after = own.after(cost, now);
        ASSERT_EQ(after.has_value(), admitted_it) << i;
        Entry other = entry;
        ASSERT_EQ(take(entry, limit, now, cost), admitted_it) << i;
        if (admitted_it) {
            take_fitting(other, limit, now, cost);
            ASSERT_EQ(other.time, entry.time) << i;
            ASSERT_EQ(other.key, entry.key) << i;
            charge(bucket, limit, now, cost);
            ASSERT_EQ(*after, bucket) << i;
        }
        (admitted_it ? admitted : refused) += 1;
        ASSERT_EQ(entry.fresh_from(), bucket.fresh_from) << i;
        ASSERT_EQ(entry.cell().rest, bucket.below) << i;
    }
    EXPECT_EQ(entry.slot_and_tag(), key.slot_and_tag);
    EXPECT_EQ(entry.stamp(), (Stamp{.version = 5, .aggregation_level = 1}));
    EXPECT_TRUE(entry.held());
    EXPECT_GT(admitted, 20U);
    EXPECT_GT(refused, 20U);
}

// Around the latest state that still admits, where random states hardly ever are.
TEST_P(Take, OneUnitEndsWhereTheToleranceDoes) {
    const Numbers& n = GetParam();
    const Limit limit = *Limit::make({Units{n.units}, n.period}, Units{n.burst});
    const Instant now{1h};
    const std::uint64_t tolerated = tolerance(limit, Units{1});
    const auto whole = static_cast<std::int64_t>(tolerated / limit.parts());
    const auto rest = static_cast<std::uint32_t>(limit.parts() - tolerated % limit.parts());
    std::size_t admitted = 0;
    std::size_t asked = 0;
    for (std::int64_t ns = -1; ns <= 2; ++ns) {
        for (const std::uint32_t below : {0U, 1U, rest - 1, rest, rest + 1, limit.parts() - 1}) {
            if (below >= limit.parts()) {
                continue;
            }
            Entry entry;
            entry.file({now + Nanoseconds{whole + ns}, below}, 7, {.version = 2});
            Gcra bucket{now + Nanoseconds{whole + ns}, below};
            const bool wanted = admits(bucket, limit, now, Units{1});
            ASSERT_EQ(take(entry, limit, now, Units{1}), wanted) << ns << " " << below;
            if (wanted) {
                charge(bucket, limit, now, Units{1});
            }
            ASSERT_EQ(entry.fresh_from(), bucket.fresh_from);
            ASSERT_EQ(entry.cell().rest, limit.parts() == 1 ? below : bucket.below);
            admitted +=
                entry.time != Entry{}.time && entry.fresh_from() > now + Nanoseconds{whole + ns};
            ++asked;
        }
    }
    EXPECT_GT(admitted, 0U);
    EXPECT_LT(admitted, asked);
}

INSTANTIATE_TEST_SUITE_P(Rates, Take, testing::ValuesIn(kNumbers));

// Up to the last instant that a bucket is asked at (units.hpp), with the longest debt.
TEST(Take, ReachesAsFarAsAnEntryDoes) {
    const Limit limit = *Limit::make({Units{1}, 24h}, Units{833});
    const Instant now = Instant{Nanoseconds{(std::int64_t{1} << 56) - 1}} - 24h;
    Entry entry;
    entry.file({now, 0}, TableKey{GroupKey{1}, 1}.slot_and_tag, {});
    EXPECT_FALSE(take(entry, limit, now, Units{834}));
    EXPECT_TRUE(take(entry, limit, now, Units{833}));
    EXPECT_EQ(entry.fresh_from(), now + 833 * 24h);
    EXPECT_FALSE(take(entry, limit, now + 24h - 1ns, Units{1}));
    EXPECT_TRUE(take(entry, limit, now + 24h, Units{1}));
}

}  // namespace
}  // namespace sluice::take_test
