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

}  // namespace
}  // namespace sluice::heatmaps_test
