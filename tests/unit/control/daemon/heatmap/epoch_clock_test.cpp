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

}  // namespace
}  // namespace sluice::epoch_clock_test
