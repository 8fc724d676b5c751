#include "lib/peer/merge/terms.hpp"

#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/peer/merge/bucket_state.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::terms_test {
namespace {

using namespace std::chrono_literals;

AnyLimit bucket(std::uint64_t rate, std::uint64_t burst) {
    return TokenBucketLimit{*Limit::make({Units{rate}, 1s}, Units{burst})};
}

TEST(Terms, UFollowsFromRateAndInterval) {
    const AnyLimit limit = bucket(1'000'000, 1'000'000);
    const SharingTerms terms =
        terms_for({.limit = limit, .largest_cost = 1, .workers = 4, .merge_interval = 1ms});
    EXPECT_EQ(terms.sharing, Sharing::Merged);
    EXPECT_EQ(terms.max_unsynced, 1'000'000U / 16 / 3);
    EXPECT_LE(terms.overshoot, 1'000'000U / 16);
    // Of a small burst, what is spent while an amount is on its way is more.
    const AnyLimit small = bucket(1'000'000, 100'000);
    EXPECT_EQ(terms_for({.limit = small, .largest_cost = 1, .workers = 4, .merge_interval = 1ms})
                  .max_unsynced,
              4'001U);
    // Part of a unit is a unit.
    const AnyLimit slow = bucket(20, 100);
    EXPECT_EQ(default_max_unsynced(
                  {.limit = slow, .largest_cost = 1, .workers = 4, .merge_interval = 1ms}),
              2U);
}

// Whatever the numbers: what may come together is at most 1/16 of the burst or count, or no more
// than what is on its way; and half of it at most.
TEST(Terms, TheDefaultIsSmallBesideTheBurst) {
    for (const std::size_t workers : {2U, 3U, 4U, 16U, 64U}) {
        for (const std::uint64_t most : {100U, 4'000U, 1'000'000U}) {
            const WindowNumbers numbers = *make_window_numbers(Units{most}, 10s);
            for (const AnyLimit& limit :
                 {bucket(10, most), AnyLimit{SlidingWindowLimit{numbers}},
                  AnyLimit{*make_fixed_window(numbers, WindowPhase::Clock, 0s)},
                  AnyLimit{*make_sliding_counters(numbers, 10, Edge::Strict)}}) {
                const SharingQuestion question{
                    .limit = limit, .largest_cost = 1, .workers = workers, .merge_interval = 1ms};
                const std::uint64_t ahead = default_max_unsynced(question);
                const std::uint64_t overshoot = windows_touched(limit) * (workers - 1) * ahead;
                const std::uint64_t rate = gcra_of(limit) != nullptr ? 10 : most / 10;
                const std::uint64_t on_its_way = (rate * 4 + 999) / 1'000 + 1;
                EXPECT_TRUE(overshoot <= most / 16 || ahead == on_its_way)
                    << workers << " " << most << " " << ahead;
                EXPECT_GE(ahead, on_its_way);
                EXPECT_GE((ahead + 1) * windows_touched(limit) * (workers - 1), most / 16);
            }
        }
    }
}

TEST(Terms, WhatIsAskedForCounts) {
    const AnyLimit limit = bucket(1'000, 1'000);
    const SharingTerms terms = terms_for({.limit = limit,
                                          .largest_cost = 1,
                                          .workers = 5,
                                          .merge_interval = 1ms,
                                          .max_unsynced = 100});
    EXPECT_EQ(terms.max_unsynced, 100U);
    EXPECT_EQ(terms.overshoot, 400U);
}

TEST(Terms, WhatWouldBeSillyBelongsToTheOwner) {
    const AnyLimit small = bucket(1'000'000, 20'000);
    const AnyLimit log = SlidingLogLimit{*make_window_numbers(Units{10}, 1s)};
    const auto why = [](const AnyLimit& limit, std::uint64_t max_unsynced) {
        const SharingTerms terms = terms_for({.limit = limit,
                                              .largest_cost = 1'500,
                                              .workers = 4,
                                              .merge_interval = 1ms,
                                              .max_unsynced = max_unsynced});
        EXPECT_EQ(terms.sharing, Sharing::AtOwner);
        return std::string{terms.why};
    };
    EXPECT_EQ(why(small, 0), "(workers - 1) * max_unsynced would be over half of its burst");
    EXPECT_EQ(why(small, 1'499), "max_unsynced is below the largest cost");
    EXPECT_EQ(why(log, 0), "its algorithm is not merged");
    EXPECT_EQ(why(bucket(1'000'000'000, std::uint64_t{1} << 40), std::uint64_t{1} << 31),
              "max_unsynced would be above 2^30");
}

TEST(BucketState, AnAmountIsSpentWhenItWas) {
    const Limit limit = *Limit::make({Units{1'000}, 1s}, Units{10});
    const Gcra at_five = charged({}, limit, {Instant{5ms}, 3}, Instant{100ms});
    EXPECT_EQ(at_five.fresh_from, Instant{8ms});
    // On top of what is owed, whenever that was spent.
    EXPECT_EQ(charged({Instant{50ms}, 0}, limit, {Instant{5ms}, 3}, Instant{100ms}).fresh_from,
              Instant{53ms});
}

TEST(BucketState, OwesNoMoreThanTwoBucketsFromNowOn) {
    const Limit limit = *Limit::make({Units{1'000}, 1s}, Units{10});
    EXPECT_EQ(charged({}, limit, {Instant{5ms}, 1'000}, Instant{7ms}).fresh_from, Instant{27ms});
    // A burst that was lowered leaves longer debts, and nothing that is charged shortens them.
    EXPECT_EQ(charged({Instant{900ms}, 0}, limit, {Instant{5ms}, 3}, Instant{7ms}).fresh_from,
              Instant{900ms});
    const Limit thirds = *Limit::make({Units{3}, 1s}, Units{10});
    const Gcra bucket = charged({}, thirds, {Instant{0s}, 1}, Instant{0s});
    EXPECT_EQ(debt_of(bucket, thirds, Instant{0s}), thirds.period());
    EXPECT_EQ(excess_of(bucket, thirds, Instant{0s}), 0U);
    EXPECT_EQ(excess_of(charged({}, thirds, {Instant{0s}, 14}, Instant{0s}), thirds, Instant{0s}),
              4U);
}

}  // namespace
}  // namespace sluice::terms_test
