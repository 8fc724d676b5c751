#include "control/daemon/heatmap/heatmaps.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice::heatmaps_test {
namespace {

using namespace std::chrono_literals;

constexpr Heatmaps::Clock::time_point kNow{1h};

std::size_t looks_of(Heatmaps& maps, const std::string& prefix, Role role) {
    std::size_t count = 0;
    while (maps.look(prefix + std::to_string(count), role, kNow)) {
        ++count;
    }
    return count;
}

TEST(Heatmaps, WhatTenantsLookAtLeavesRoomForEachOtherAndTheOperators) {
    Heatmaps maps;
    EXPECT_EQ(looks_of(maps, "acme:r", Role::Tenant), Heatmaps::kMostOfTenant);
    EXPECT_TRUE(maps.look("acme:r0", Role::Tenant, kNow)) << "one that is looked at already";
    EXPECT_EQ(looks_of(maps, "other:r", Role::Tenant),
              Heatmaps::kMostOfTenants - Heatmaps::kMostOfTenant);
    EXPECT_FALSE(maps.look("third:r", Role::Tenant, kNow));
    EXPECT_EQ(looks_of(maps, "r", Role::Operate), kMostLookedAt - Heatmaps::kMostOfTenants);
    EXPECT_TRUE(maps.look("third:r", Role::Tenant, kNow + Heatmaps::kLookHolds + 1s))
        << "a look ends";
}

TEST(Heatmaps, ViewersAndTenantsLeaveSomeToTheOthers) {
    Heatmaps maps;
    EXPECT_EQ(looks_of(maps, "v", Role::View), Heatmaps::kMostOfViewers);
    EXPECT_EQ(looks_of(maps, "acme:r", Role::Tenant),
              kMostLookedAt - Heatmaps::kLeftToOthers - Heatmaps::kMostOfViewers);
    EXPECT_TRUE(maps.look("v0", Role::Admin, kNow)) << "theirs too, from here on";
    EXPECT_EQ(looks_of(maps, "w", Role::View), 1U);
    EXPECT_EQ(looks_of(maps, "r", Role::Admin), Heatmaps::kLeftToOthers - 1);
}

// Whoever looks goes on looking: a map that many want in turn would be nobody's.
TEST(Heatmaps, OneLookMoreIsRefusedAndCountedUntilAnotherEnds) {
    Heatmaps maps;
    const Heatmaps::Clock::time_point now{1h};
    for (std::size_t i = 0; i < kMostLookedAt; ++i) {
        EXPECT_TRUE(maps.look("r" + std::to_string(i), Role::Operate, now));
    }
    EXPECT_FALSE(maps.look("late", Role::Operate, now));
    EXPECT_EQ(maps.refused_looks(), 1U);
    EXPECT_TRUE(maps.look("r0", Role::View, now + Heatmaps::kLookHolds / 2)) << "it goes on";
    EXPECT_EQ(maps.looked_at(now).size(), kMostLookedAt);
    EXPECT_TRUE(maps.look("late", Role::Operate, now + Heatmaps::kLookHolds))
        << "nobody asked for the others";
    EXPECT_EQ(maps.looked_at(now + Heatmaps::kLookHolds), (std::vector<std::string>{"late", "r0"}));
    EXPECT_EQ(maps.refused_looks(), 1U);
}

}  // namespace
}  // namespace sluice::heatmaps_test
