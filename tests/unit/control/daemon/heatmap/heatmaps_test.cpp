#include "control/daemon/heatmap/heatmaps.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice::heatmaps_test {
namespace {

using namespace std::chrono_literals;

constexpr Heatmaps::Clock::time_point kNow{1h};

std::size_t looks_of(Heatmaps& maps, const std::string& prefix) {
    std::size_t count = 0;
    while (maps.look(prefix + std::to_string(count), kNow)) {
        ++count;
    }
    return count;
}

TEST(Heatmaps, WhatTenantsLookAtLeavesRoomForEachOtherAndTheOperators) {
    Heatmaps maps;
    EXPECT_EQ(looks_of(maps, "acme:r"), Heatmaps::kMostOfTenant);
    EXPECT_TRUE(maps.look("acme:r0", kNow)) << "one that is looked at already";
    EXPECT_EQ(looks_of(maps, "other:r"), Heatmaps::kMostOfTenants - Heatmaps::kMostOfTenant);
    EXPECT_FALSE(maps.look("third:r", kNow));
    EXPECT_EQ(looks_of(maps, "r"), kMostLookedAt - Heatmaps::kMostOfTenants);
    EXPECT_TRUE(maps.look("third:r", kNow + Heatmaps::kLookHolds + 1s)) << "a look ends";
}

// Whoever looks goes on looking: a map that many want in turn would be nobody's.
TEST(Heatmaps, OneLookMoreIsRefusedAndCountedUntilAnotherEnds) {
    Heatmaps maps;
    const Heatmaps::Clock::time_point now{1h};
    for (std::size_t i = 0; i < kMostLookedAt; ++i) {
        EXPECT_TRUE(maps.look("r" + std::to_string(i), now));
    }
    EXPECT_FALSE(maps.look("late", now));
    EXPECT_EQ(maps.refused_looks(), 1U);
    EXPECT_TRUE(maps.look("r0", now + Heatmaps::kLookHolds / 2)) << "it goes on";
    EXPECT_EQ(maps.looked_at(now).size(), kMostLookedAt);
    EXPECT_TRUE(maps.look("late", now + Heatmaps::kLookHolds)) << "nobody asked for the others";
    EXPECT_EQ(maps.looked_at(now + Heatmaps::kLookHolds), (std::vector<std::string>{"late", "r0"}));
    EXPECT_EQ(maps.refused_looks(), 1U);
}

}  // namespace
}  // namespace sluice::heatmaps_test
