#include "lib/watch/heatmap/heat_buckets.hpp"

#include <gtest/gtest.h>

namespace sluice::heat_buckets_test {
namespace {

TEST(OfferedBucket, HasARowForNothingAndHalfStepsOfTheLogarithm) {
    EXPECT_EQ(offered_bucket(0), 0U);
    EXPECT_EQ(offered_bucket(1), 1U);
    EXPECT_EQ(offered_bucket(2), 3U) << "row 2, from 1.41 on, has no whole number";
    EXPECT_EQ(offered_bucket(3), 4U);
    EXPECT_EQ(offered_bucket(4), 5U);
    EXPECT_EQ(offered_bucket(5), 5U);
    EXPECT_EQ(offered_bucket(6), 6U);
    EXPECT_EQ(offered_bucket(255), 16U);
    EXPECT_EQ(offered_bucket(256), 17U);
    EXPECT_EQ(offered_bucket(362), 17U);
    EXPECT_EQ(offered_bucket(363), 18U);
}

// Both sides of every edge: it lies within half a unit of where the row says that it begins.
TEST(OfferedBucket, ChangesAtEveryEdgeAndNowhereElse) {
    for (std::size_t bucket = 3; bucket < kOfferedBuckets; ++bucket) {
        const auto first = static_cast<std::uint64_t>(std::ceil(offered_edge(bucket)));
        EXPECT_EQ(offered_bucket(first), bucket);
        EXPECT_EQ(offered_bucket(first - 1), bucket == 3 ? 1 : bucket - 1);
    }
}

TEST(OfferedBucket, TakesInWhatIsBeyondTheLastRow) {
    EXPECT_EQ(offered_bucket(std::uint64_t{1} << 40), kOfferedBuckets - 1);
    EXPECT_EQ(offered_bucket(UINT64_MAX), kOfferedBuckets - 1);
    EXPECT_DOUBLE_EQ(offered_edge(kOfferedBuckets), std::exp2(40));
}

TEST(LeftBucket, HasARowForNothingOneForAllAndSixteenBetween) {
    EXPECT_EQ(left_bucket(0), 0U);
    EXPECT_EQ(left_bucket(1), 1U);
    EXPECT_EQ(left_bucket(254), 16U);
    EXPECT_EQ(left_bucket(255), 17U);
    for (std::size_t bucket = 2; bucket <= 16; ++bucket) {
        const auto first =
            static_cast<std::uint8_t>(std::ceil(left_edge(bucket) * HeatSample::kFull));
        EXPECT_EQ(left_bucket(first), bucket);
        EXPECT_EQ(left_bucket(static_cast<std::uint8_t>(first - 1)), bucket - 1);
    }
    EXPECT_EQ(left_edge(0), 0);
    EXPECT_EQ(left_edge(1), 0);
    EXPECT_EQ(left_edge(kLeftBuckets - 1), 1);
}

TEST(ColumnStep, IsTheNearestToTheWindow) {
    for (const unsigned step : kColumnSteps) {
        EXPECT_EQ(column_step(step), step);
    }
    EXPECT_EQ(column_step(0.001), 1U);
    EXPECT_EQ(column_step(2), 1U);
    EXPECT_EQ(column_step(3), 5U);
    EXPECT_EQ(column_step(7), 5U);
    EXPECT_EQ(column_step(8), 10U);
    EXPECT_EQ(column_step(17), 10U);
    EXPECT_EQ(column_step(18), 30U);
    EXPECT_EQ(column_step(42), 30U);
    EXPECT_EQ(column_step(43), 60U);
    EXPECT_EQ(column_step(86'400), 60U);
}

}  // namespace
}  // namespace sluice::heat_buckets_test
