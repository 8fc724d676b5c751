#include "tests/pktgen/arrival_order.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>

namespace sluice::pktgen::arrival_order_test {
namespace {

ArrivalOrder taken(std::initializer_list<std::uint64_t> numbers) {
    ArrivalOrder order;
    for (const std::uint64_t number : numbers) {
        order.take(number);
    }
    return order;
}

TEST(ArrivalOrder, GapsAreNeitherReorderedNorDuplicates) {
    const ArrivalOrder order = taken({0, 1, 5, 6, 9});
    EXPECT_EQ(order.unique(), 5U);
    EXPECT_EQ(order.reordered(), 0U);
    EXPECT_EQ(order.duplicates(), 0U);
}

TEST(ArrivalOrder, AFrameBehindALaterOneIsReorderedAndStillUnique) {
    const ArrivalOrder order = taken({0, 2, 1, 4, 3, 5});
    EXPECT_EQ(order.unique(), 6U);
    EXPECT_EQ(order.reordered(), 2U);
}

TEST(ArrivalOrder, TheSameAgainIsADuplicateOnly) {
    const ArrivalOrder order = taken({0, 1, 1, 0, 2});
    EXPECT_EQ(order.unique(), 3U);
    EXPECT_EQ(order.duplicates(), 2U);
    EXPECT_EQ(order.reordered(), 0U);
}

TEST(ArrivalOrder, NumbersMayBeginAnywhereAndJump) {
    const ArrivalOrder order = taken({1'000'000, 1'000'001, 9'000'000'000, 9'000'000'000});
    EXPECT_EQ(order.unique(), 3U);
    EXPECT_EQ(order.duplicates(), 1U);
}

TEST(ArrivalOrder, WhatIsOlderThanTheWindowCountsAsThat) {
    const ArrivalOrder order = taken({0, 70'000, 1});
    EXPECT_EQ(order.unique(), 3U);
    EXPECT_EQ(order.too_old(), 1U);
    EXPECT_EQ(order.reordered(), 1U);
}

TEST(ArrivalOrder, AWindowFurtherTheSamePlaceIsFreeAgain) {
    ArrivalOrder order;
    for (std::uint64_t number = 0; number < 3 * 65'536; ++number) {
        order.take(number);
    }
    EXPECT_EQ(order.unique(), 3U * 65'536);
    EXPECT_EQ(order.duplicates(), 0U);
}

}  // namespace
}  // namespace sluice::pktgen::arrival_order_test
