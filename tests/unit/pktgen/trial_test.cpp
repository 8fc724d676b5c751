#include "tests/pktgen/trial.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::pktgen::trial_test {
namespace {

constexpr std::array<std::uint64_t, 3> kBits{672, 5000, 12'304};

TEST(PktgenTrial, ABurstTakenWholeIsSent) {
    Trial trial;
    trial.count_burst(kBits, 3, false);
    EXPECT_EQ(trial.sent, 3U);
    EXPECT_EQ(trial.sent_bits, 672U + 5000 + 12'304);
    EXPECT_EQ(trial.refused, 0U);
}

TEST(PktgenTrial, WhatIsOfferedAgainIsSentOnceItIsTaken) {
    Trial trial;
    trial.count_burst(kBits, 1, false);
    EXPECT_EQ(trial.sent, 1U);
    EXPECT_EQ(trial.sent_bits, 672U);
    trial.count_burst(std::span{kBits}.subspan(1), 2, false);
    EXPECT_EQ(trial.sent, 3U);
    EXPECT_EQ(trial.sent_bits, 672U + 5000 + 12'304);
    EXPECT_EQ(trial.dropped, 0U);
    EXPECT_EQ(trial.refused, 1U);
}

TEST(PktgenTrial, WithOneChanceFramesAndBitsAreThoseOffered) {
    Trial trial;
    trial.count_burst(kBits, 1, true);
    EXPECT_EQ(trial.sent, 3U);
    EXPECT_EQ(trial.sent_bits, 672U + 5000 + 12'304);
    EXPECT_EQ(trial.dropped, 2U);
    EXPECT_EQ(trial.refused, 1U);
}

}  // namespace
}  // namespace sluice::pktgen::trial_test
