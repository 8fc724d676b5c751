#include "control/daemon/boot_time.hpp"

#include <gtest/gtest.h>

namespace sluice::boot_time_test {
namespace {

using namespace std::chrono_literals;

TEST(BootTime, IsOfOneBootAndGoesOn) {
    const BootTime first = boot_time();
    const BootTime later = boot_time();
    EXPECT_FALSE(first.boot.empty());
    EXPECT_EQ(first.boot, later.boot);
    EXPECT_GE(later.since, first.since);
    EXPECT_GT(first.since, 0s);
}

TEST(BootTime, WhatIsLeft) {
    const BootTime end{"a", 100s};
    EXPECT_EQ(left_until(end, {"a", 40s}), 60s);
    EXPECT_EQ(left_until(end, {"a", 100s}), 0s);
    EXPECT_EQ(left_until(end, {"a", 101s}), 0s);
    EXPECT_EQ(left_until(end, {"b", 40s}), 0s) << "a reboot ends everything";
    EXPECT_EQ(left_until({"", 100s}, {"", 40s}), 0s) << "nor does anything outlive an unknown boot";
}

}  // namespace
}  // namespace sluice::boot_time_test
