#include "control/heatmap/column_join.hpp"

#include <gtest/gtest.h>

namespace sluice::column_join_test {
namespace {

constexpr std::uint64_t kTopBit = std::uint64_t{1} << (HeatSample::kDigestBits - 1);

TEST(ColumnJoin, AddsWhatAKeyOfferedAndKeepsTheLeastThatItHadLeft) {
    ColumnJoin join{100};
    const HeatSample first[] = {{.digest = 9, .offered = 4, .refused = 1, .least_left = 0},
                                {.digest = 5, .offered = 2, .refused = 0, .least_left = 200}};
    const HeatSample second[] = {{.digest = 5, .offered = 7, .refused = 0, .least_left = 90},
                                 {.digest = 6, .offered = 1, .refused = 0, .least_left = 255}};
    join.add(first, 0, 3);
    join.add(second, 0, 4);
    ASSERT_EQ(join.keys().size(), 3U);
    EXPECT_EQ(join.keys()[0].digest, 5U);
    EXPECT_EQ(join.keys()[0].offered, 9U);
    EXPECT_EQ(join.keys()[0].left, 90);
    EXPECT_EQ(join.keys()[1].digest, 6U);
    EXPECT_EQ(join.keys()[2].refused, 1U);
    EXPECT_EQ(join.keys()[2].left, 0);
    EXPECT_EQ(join.seconds(), 2U);
    EXPECT_EQ(join.left_out(), 7U);
}

TEST(ColumnJoin, OffersBeyondWhatASampleHoldsAddUp) {
    ColumnJoin join{100};
    const HeatSample most[] = {{.digest = 1, .offered = UINT32_MAX, .refused = 0}};
    join.add(most, 0, 0);
    join.add(most, 0, 0);
    EXPECT_EQ(join.keys()[0].offered, 2 * std::uint64_t{UINT32_MAX});
}

// Of keys that are watched at fewer bits those remain that are watched at more.
TEST(ColumnJoin, JoinsSecondsAtTheLargerNumberOfSamplingBits) {
    const HeatSample at_none[] = {{.digest = 1, .offered = 1}, {.digest = kTopBit, .offered = 1}};
    const HeatSample at_one[] = {{.digest = 1, .offered = 1}};
    for (const bool fewer_first : {true, false}) {
        ColumnJoin join{100};
        if (fewer_first) {
            join.add(at_none, 0, 0);
            join.add(at_one, 1, 0);
        } else {
            join.add(at_one, 1, 0);
            join.add(at_none, 0, 0);
        }
        EXPECT_EQ(join.sampling_bits(), 1U);
        ASSERT_EQ(join.keys().size(), 1U);
        EXPECT_EQ(join.keys()[0].offered, 2U);
    }
}

TEST(ColumnJoin, NeverHasMoreKeysThanItMay) {
    ColumnJoin join{64};
    std::vector<HeatSample> samples;
    for (std::uint64_t i = 0; i < 256; ++i) {
        samples.push_back({.digest = i << (HeatSample::kDigestBits - 8), .offered = 1});
    }
    join.add(samples, 0, 0);
    EXPECT_EQ(join.keys().size(), 64U);
    EXPECT_EQ(join.sampling_bits(), 2U);
    join.clear();
    EXPECT_EQ(join.keys().size(), 0U);
    EXPECT_EQ(join.sampling_bits(), 0U);
    EXPECT_EQ(join.seconds(), 0U);
}

}  // namespace
}  // namespace sluice::column_join_test
