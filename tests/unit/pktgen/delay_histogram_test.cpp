#include "tests/pktgen/delay_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace sluice::pktgen::delay_histogram_test {
namespace {

TEST(DelayHistogram, SmallDelaysAreExact) {
    DelayHistogram delays;
    for (std::uint64_t value = 1; value <= 200; ++value) {
        delays.add(value);
    }
    EXPECT_EQ(delays.quantile(0.5), 100U);
    EXPECT_EQ(delays.quantile(0.99), 198U);
    EXPECT_EQ(delays.quantile(1), 200U);
    EXPECT_EQ(delays.shortest(), 1U);
    EXPECT_EQ(delays.longest(), 200U);
}

TEST(DelayHistogram, AQuantileIsNeverOfFewerThanItsShare) {
    DelayHistogram delays;
    for (std::uint64_t value = 1; value <= 170; ++value) {
        delays.add(value);
    }
    EXPECT_EQ(delays.quantile(0.99), 169U);  // 168 would be 98.8 %
    DelayHistogram hundred;
    for (std::uint64_t value = 1; value <= 100; ++value) {
        hundred.add(value);
    }
    EXPECT_EQ(hundred.quantile(0.07), 7U);
}

TEST(DelayHistogram, EveryQuantileIsAtMostOneStepTooLarge) {
    std::mt19937_64 draw{7};
    DelayHistogram delays;
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 100'000; ++i) {
        all.push_back(draw() >> (24 + draw() % 40));
        delays.add(all.back());
    }
    std::ranges::sort(all);
    for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        const auto exact = static_cast<double>(
            all[static_cast<std::size_t>(share * static_cast<double>(all.size()) + 0.5) - 1]);
        const auto found = static_cast<double>(delays.quantile(share));
        EXPECT_GE(found, exact);
        EXPECT_LE(found, exact * 1.008 + 1);
    }
}

TEST(DelayHistogram, WhatLastsTooLongCountsAsTheLongest) {
    DelayHistogram delays;
    delays.add(UINT64_MAX);
    delays.add(1);
    EXPECT_EQ(delays.count(), 2U);
    EXPECT_EQ(delays.quantile(0.5), 1U);
    EXPECT_EQ(delays.quantile(1), (std::uint64_t{1} << 40) - 1);
    EXPECT_EQ(delays.longest(), UINT64_MAX);
}

TEST(DelayHistogram, OfNothingIsZero) {
    const DelayHistogram delays;
    EXPECT_EQ(delays.quantile(0.99), 0U);
    EXPECT_EQ(delays.shortest(), 0U);
}

}  // namespace
}  // namespace sluice::pktgen::delay_histogram_test
