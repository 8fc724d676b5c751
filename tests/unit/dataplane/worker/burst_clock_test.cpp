#include "dataplane/worker/burst_clock.hpp"

#include <gtest/gtest.h>

namespace sluice::burst_clock_test {
namespace {

using namespace std::chrono_literals;

TEST(BurstTime, CountsTicksFromItsAnchor) {
    BurstTime time{2'000'000'000};  // two ticks a ns
    time.anchor(1000, Instant{1h});
    EXPECT_EQ(time.at(1000), Instant{1h});
    EXPECT_EQ(time.at(1001), Instant{1h});
    EXPECT_EQ(time.at(1002), Instant{1h} + 1ns);
    EXPECT_EQ(time.at(1000 + 2'000'000'000ULL * 3600), Instant{2h});
}

TEST(BurstTime, NeverGoesBack) {
    BurstTime time{1'000'000'000};
    time.anchor(0, Instant{1h});
    EXPECT_EQ(time.at(1'000'000'000), Instant{1h + 1s});
    time.anchor(1'000'000'000, Instant{1h + 1s - 5ms});  // the counter ran ahead of the clock
    EXPECT_EQ(time.at(1'000'000'001), Instant{1h + 1s});
    EXPECT_EQ(time.at(1'010'000'000), Instant{1h + 1s + 5ms});
}

TEST(BurstTime, WantsAnAnchorEachSecond) {
    BurstTime time{1'000'000'000};
    time.anchor(500, Instant{1h});
    EXPECT_FALSE(time.wants_anchor(1'000'000'499));
    EXPECT_TRUE(time.wants_anchor(1'000'000'500));
}

TEST(BurstTime, AYearBetweenAnchorsDoesNotWrap) {
    BurstTime time{3'000'000'000};
    time.anchor(0, Instant{});
    EXPECT_EQ(time.at(3'000'000'000ULL * 86'400 * 365), Instant{24h * 365});
}

}  // namespace
}  // namespace sluice::burst_clock_test
