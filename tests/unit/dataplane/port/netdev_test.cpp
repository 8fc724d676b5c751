#include "dataplane/port/netdev.hpp"

#include <gtest/gtest.h>

namespace sluice::netdev_test {
namespace {

constexpr NetdevChange kNarrowed{{.mtu = 1500, .promiscuous = false}, 1400};

TEST(NetdevChange, WhatThePortHasSetGoesBack) {
    EXPECT_EQ(without_change(kNarrowed, {.mtu = 1400, .promiscuous = true}),
              (NetdevSettings{.mtu = 1500, .promiscuous = false}));
    EXPECT_EQ(without_change(kNarrowed, {.mtu = 1500, .promiscuous = false}),
              (NetdevSettings{.mtu = 1500, .promiscuous = false}));
}

TEST(NetdevChange, WhatSomebodyElseHasSetSinceStays) {
    EXPECT_EQ(without_change(kNarrowed, {.mtu = 9000, .promiscuous = true}),
              (NetdevSettings{.mtu = 9000, .promiscuous = false}));
    constexpr NetdevChange kPromiscuous{{.mtu = 1500, .promiscuous = true}, 1500};
    EXPECT_FALSE(without_change(kPromiscuous, {.mtu = 1500, .promiscuous = false}).promiscuous);
    EXPECT_TRUE(without_change(kPromiscuous, {.mtu = 1500, .promiscuous = true}).promiscuous);
}

// Kept by a version that did not note it.
TEST(NetdevChange, AnMtuThatNobodyKnowsIsTakenForThePortsOwn) {
    EXPECT_EQ(without_change({{.mtu = 1500, .promiscuous = false}}, {.mtu = 9000}).mtu, 1500);
}

}  // namespace
}  // namespace sluice::netdev_test
