#include "control/daemon/heatmap/epoch_clock.hpp"

#include <gtest/gtest.h>

namespace sluice::epoch_clock_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

HeatEpoch epoch(std::uint64_t number, std::int64_t began, std::int64_t length = kSecond) {
    return {.number = number, .began_utc_ns = began, .ended_utc_ns = began + length};
}

TEST(EpochClock, AnEpochIsOfTheSecondThatItsMiddleLiesIn) {
    EpochClock clock;
    EXPECT_EQ(clock.second_of(epoch(5, 100 * kSecond + kSecond / 4)), 100);
    EpochClock other;
    EXPECT_EQ(other.second_of(epoch(5, 100 * kSecond + 3 * kSecond / 4)), 101);
}

// Epochs of 0.999 s: their middles come to lie in the same second twice, and yet each has its own.
TEST(EpochClock, SecondsFollowEachOtherAsNumbersDoWhileClocksDriftALittle) {
    EpochClock clock;
    std::int64_t began = 100 * kSecond;
    const std::int64_t first = clock.second_of(epoch(1, began));
    for (std::uint64_t number = 2; number < 900; ++number) {
        began += kSecond * 999 / 1000;
        EXPECT_EQ(clock.second_of(epoch(number, began)),
                  first + static_cast<std::int64_t>(number) - 1);
    }
}

TEST(EpochClock, IsRightAgainWhenTheClocksAreASecondApart) {
    EpochClock clock;
    (void)clock.second_of(epoch(1, 100 * kSecond));
    EXPECT_EQ(clock.second_of(epoch(2, 103 * kSecond)), 103);
    EXPECT_EQ(clock.second_of(epoch(3, 104 * kSecond)), 104);
    EXPECT_EQ(clock.second_of(epoch(7, 108 * kSecond)), 108) << "some were missed";
    EXPECT_EQ(clock.second_of(epoch(1, 120 * kSecond)), 120) << "another dataplane";
}

// A reload cuts an epoch in two, which lie in one second, and moves none of those behind.
TEST(EpochClock, EpochsThatAReloadHasCutLieInOneSecond) {
    for (const std::int64_t cut : {1, 3, 5, 7, 9}) {
        SCOPED_TRACE(cut);
        EpochClock clock;
        const std::int64_t tenth = kSecond / 10;
        EXPECT_EQ(clock.second_of(epoch(1, 100 * kSecond)), 100);
        EXPECT_EQ(clock.second_of(epoch(2, 101 * kSecond, cut * tenth)), 101);
        EXPECT_EQ(clock.second_of(epoch(3, 101 * kSecond + cut * tenth, (10 - cut) * tenth)), 101);
        EXPECT_EQ(clock.second_of(epoch(4, 102 * kSecond)), 102);
        EXPECT_EQ(clock.second_of(epoch(5, 103 * kSecond)), 103);
    }
}

TEST(EpochClock, GoesBackOnlyIfTheClockWasSetBack) {
    EpochClock clock;
    EXPECT_EQ(clock.second_of(epoch(1, 100 * kSecond)), 100);
    EXPECT_EQ(clock.second_of(epoch(9, 98 * kSecond)), 100) << "some seconds were missed";
    EXPECT_EQ(clock.second_of(epoch(10, 60 * kSecond)), 60);
}

}  // namespace
}  // namespace sluice::epoch_clock_test
