#include "dataplane/worker/full_watch.hpp"

#include <gtest/gtest.h>

namespace sluice::full_watch_test {
namespace {

using namespace std::chrono_literals;
using Edge = FullWatch::Edge;

TEST(FullWatch, TellsOnceWhenATableIsFullAndOnceWhenThatIsOver) {
    FullWatch watch;
    EXPECT_EQ(watch.look(0, 0ms), Edge::None);
    EXPECT_EQ(watch.look(3, 100ms), Edge::Begins);
    EXPECT_EQ(watch.look(5, 200ms), Edge::None);
    EXPECT_EQ(watch.look(5, 300ms), Edge::None);
    EXPECT_EQ(watch.look(5, 200ms + FullWatch::kOverAfter - 1ms), Edge::None);
    EXPECT_EQ(watch.look(5, 200ms + FullWatch::kOverAfter), Edge::Ends);
    EXPECT_EQ(watch.without_room(), 5U);
    EXPECT_EQ(watch.look(5, 60s), Edge::None);
}

TEST(FullWatch, WhatFindsNoRoomMeanwhileMakesItLastLonger) {
    FullWatch watch;
    EXPECT_EQ(watch.look(1, 0ms), Edge::Begins);
    EXPECT_EQ(watch.look(2, FullWatch::kOverAfter - 1ms), Edge::None);
    EXPECT_EQ(watch.look(2, FullWatch::kOverAfter), Edge::None);
    EXPECT_EQ(watch.look(2, 2 * FullWatch::kOverAfter - 1ms), Edge::Ends);
}

TEST(FullWatch, CountsEachTimeOfItsOwn) {
    FullWatch watch;
    EXPECT_EQ(watch.look(7, 0ms), Edge::Begins);
    EXPECT_EQ(watch.look(7, 10s), Edge::Ends);
    EXPECT_EQ(watch.look(9, 20s), Edge::Begins);
    EXPECT_EQ(watch.look(9, 30s), Edge::Ends);
    EXPECT_EQ(watch.without_room(), 2U);
}

}  // namespace
}  // namespace sluice::full_watch_test
