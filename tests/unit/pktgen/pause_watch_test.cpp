#include "tests/pktgen/pause_watch.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::pause_watch_test {
namespace {

TEST(PauseWatch, ShortStepsAreNoPause) {
    PauseWatch watch{1000, 50};
    for (std::uint64_t now = 1000; now < 10'000; now += 50) {
        watch.look(now);
    }
    EXPECT_EQ(watch.pauses(), 0U);
    EXPECT_EQ(watch.longest(), 50U);
    EXPECT_FALSE(watch.met_pause(1000));
}

TEST(PauseWatch, WhatWasSentBeforeAPauseHasMetIt) {
    PauseWatch watch{1000, 50};
    watch.look(1040);
    watch.look(5000);
    watch.look(5030);
    EXPECT_EQ(watch.pauses(), 1U);
    EXPECT_EQ(watch.longest(), 3960U);
    EXPECT_TRUE(watch.met_pause(1010));
    EXPECT_TRUE(watch.met_pause(1040));  // stamped in the step that became the pause
    EXPECT_FALSE(watch.met_pause(5000));
    EXPECT_FALSE(watch.met_pause(5030));
}

TEST(PauseWatch, TheLatestPauseCounts) {
    PauseWatch watch{0, 10};
    watch.look(100);
    watch.look(105);
    watch.look(300);
    EXPECT_TRUE(watch.met_pause(104));
    EXPECT_FALSE(watch.met_pause(300));
}

TEST(PauseWatch, ASleepOfItsOwnIsAPauseBeyondWhatItMayTake) {
    PauseWatch watch{1000, 50};
    watch.rested(1140, 150);
    watch.look(1140);
    EXPECT_EQ(watch.pauses(), 0U);
    EXPECT_FALSE(watch.met_pause(1000));
    watch.rested(9000, 150);
    watch.look(9000);
    EXPECT_EQ(watch.pauses(), 1U);
    EXPECT_TRUE(watch.met_pause(1290));
    EXPECT_FALSE(watch.met_pause(9000));
}

TEST(PauseWatch, TimesOfProbesGoAroundAt48Bits) {
    const std::uint64_t begin = (std::uint64_t{1} << 48) - 20;
    PauseWatch watch{begin, 50};
    watch.look(begin + 40);    // past the turn
    watch.look(begin + 1000);  // a pause
    EXPECT_TRUE(watch.met_pause((begin + 10) & kTickMask));
    EXPECT_TRUE(watch.met_pause((begin + 30) & kTickMask));
    EXPECT_FALSE(watch.met_pause((begin + 1000) & kTickMask));
}

}  // namespace
}  // namespace sluice::pktgen::pause_watch_test
