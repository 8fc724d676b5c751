#include "dataplane/worker/watchdog.hpp"

#include <gtest/gtest.h>

namespace sluice::watchdog_test {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, TellsOnceWhenTheHeartStandsStill) {
    Watchdog dog{1000ms};
    EXPECT_FALSE(dog.look(1, 0ms));
    EXPECT_FALSE(dog.look(2, 900ms));
    EXPECT_FALSE(dog.look(2, 1899ms));
    EXPECT_EQ(dog.stalled_for(1899ms), 0ms);
    EXPECT_TRUE(dog.look(2, 1900ms));
    EXPECT_FALSE(dog.look(2, 2500ms));
    EXPECT_EQ(dog.stalled_for(2500ms), 1600ms);
    EXPECT_EQ(dog.stalls(), 1U);
    EXPECT_FALSE(dog.look(3, 2600ms));  // alive again
    EXPECT_EQ(dog.stalled_for(2600ms), 0ms);
    EXPECT_TRUE(dog.look(3, 3600ms));
    EXPECT_EQ(dog.stalls(), 2U);
}

TEST(Watchdog, AWorkerThatNeverBeganCounts) {
    Watchdog dog{100ms};
    EXPECT_FALSE(dog.look(0, 0ms));
    EXPECT_TRUE(dog.look(0, 100ms));
}

}  // namespace
}  // namespace sluice::watchdog_test
