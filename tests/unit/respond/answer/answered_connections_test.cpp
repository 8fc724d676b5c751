#include "lib/respond/answer/answered_connections.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::answered_connections_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};

// Four of one place, added a second apart.
struct Full {
    AnsweredConnections connections{AnsweredConnections::kWays};
    Full() {
        for (std::uint64_t digest = 1; digest <= AnsweredConnections::kWays; ++digest) {
            EXPECT_FALSE(connections.add(digest, kStart + digest * 1s).displaces);
        }
    }
};

TEST(AnsweredConnections, TheLongestSilentMakesRoom) {
    Full of;
    ASSERT_NE(of.connections.find(1, kStart + 5s), nullptr) << "2 is silent for longer now";
    EXPECT_FALSE(of.connections.may_have_displaced(kStart + 5s));
    const auto [added, displaces] = of.connections.add(9, kStart + 6s);
    EXPECT_TRUE(displaces);
    EXPECT_EQ(added.digest, 9U);
    EXPECT_TRUE(of.connections.may_have_displaced(kStart + 6s));
    EXPECT_EQ(of.connections.find(2, kStart + 6s), nullptr);
    for (const std::uint64_t stays : {1U, 3U, 4U, 9U}) {
        EXPECT_NE(of.connections.find(stays, kStart + 6s), nullptr) << stays;
    }
    EXPECT_FALSE(
        of.connections.may_have_displaced(kStart + 8s + 2 * AnsweredConnections::kSilence));
}

TEST(AnsweredConnections, WhatIsOverMakesRoomFirst) {
    Full of;
    of.connections.find(4, kStart + 4s)->has_finished = true;
    const Instant later = kStart + 5s + AnsweredConnections::kAfterFin;
    EXPECT_FALSE(of.connections.add(9, later).displaces);
    EXPECT_EQ(of.connections.find(4, later), nullptr);
    EXPECT_NE(of.connections.find(1, later), nullptr);
}

TEST(AnsweredConnections, OneThatWaitsIsKeptForAsLongAsItMayWait) {
    Full of;
    of.connections.find(4, kStart + 4s)->waits = true;
    const Instant later = kStart + 4s + 2 * AnsweredConnections::kSilence;
    EXPECT_NE(of.connections.find(4, later), nullptr);
    EXPECT_EQ(of.connections.find(3, later), nullptr);
    EXPECT_EQ(of.connections.find(4, later + kLongestAnswerWait + 1s), nullptr);
}

TEST(AnsweredConnections, OneThatStandsBeginsAnew) {
    Full of;
    of.connections.find(3, kStart + 4s)->received = 77;
    const auto [added, displaces] = of.connections.add(3, kStart + 5s);
    EXPECT_FALSE(displaces);
    EXPECT_EQ(added.received, 0U);
}

}  // namespace
}  // namespace sluice::answered_connections_test
