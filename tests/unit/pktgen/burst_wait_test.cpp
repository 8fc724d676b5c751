#include "tests/pktgen/burst_wait.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::burst_wait_test {
namespace {

constexpr std::size_t kBurst = 32;

// Turns in which the frames stayed before they were offered.
unsigned turns_of(BurstWait& wait, std::size_t frames) {
    constexpr unsigned kForEver = 1000;
    unsigned turns = 0;
    while (turns < kForEver && !wait.is_over(frames, kBurst, true)) {
        ++turns;
    }
    return turns;
}

TEST(BurstWait, AWholeBurstLeavesAtOnce) {
    BurstWait wait;
    EXPECT_EQ(turns_of(wait, kBurst), 0U);
}

TEST(BurstWait, WithoutAWholeBurstAnywhereAllLeave) {
    BurstWait wait;
    EXPECT_TRUE(wait.is_over(1, kBurst, false));
}

TEST(BurstWait, FramesLeaveAfterSomeTurnsHoweverFewTheyAre) {
    BurstWait wait;
    EXPECT_EQ(turns_of(wait, 1), BurstWait::kMostTurns);
    EXPECT_EQ(turns_of(wait, kBurst - 1), BurstWait::kMostTurns);  // from the beginning each time
}

TEST(BurstWait, AnEmptyQueueDoesNotWait) {
    BurstWait wait;
    for (unsigned turn = 0; turn < 3 * BurstWait::kMostTurns; ++turn) {
        EXPECT_FALSE(wait.is_over(0, kBurst, true));
    }
    EXPECT_EQ(turns_of(wait, 1), BurstWait::kMostTurns);
}

TEST(BurstWait, ABurstMeanwhileEndsTheWait) {
    BurstWait wait;
    EXPECT_FALSE(wait.is_over(1, kBurst, true));
    EXPECT_TRUE(wait.is_over(kBurst, kBurst, true));
    EXPECT_EQ(turns_of(wait, 1), BurstWait::kMostTurns);
}

}  // namespace
}  // namespace sluice::pktgen::burst_wait_test
