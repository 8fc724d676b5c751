#include "control/daemon/live/live_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice::live_history_test {
namespace {

using Ring = SecondRing<1>;

TEST(SecondRing, KeepsTenMinutesAndShowsGaps) {
    Ring ring;
    EXPECT_TRUE(std::isnan(ring.at(5)[0])) << "nothing was put";
    ring.put(5, {1});
    ring.put(8, {2});
    ring.put(8, {9});
    ring.put(6, {9});
    EXPECT_EQ(ring.at(5)[0], 1);
    EXPECT_EQ(ring.at(8)[0], 2) << "a second is put once";
    EXPECT_TRUE(std::isnan(ring.at(6)[0]));
    EXPECT_TRUE(std::isnan(ring.at(9)[0]));
    ring.put(604, {3});
    EXPECT_EQ(ring.at(5)[0], 1);
    ring.put(605, {4});
    EXPECT_TRUE(std::isnan(ring.at(5)[0])) << "600 s are over";
    EXPECT_EQ(ring.at(8)[0], 2);
    ring.put(5'000, {5});
    EXPECT_TRUE(std::isnan(ring.at(605)[0]));
    EXPECT_TRUE(std::isnan(ring.at(4'999)[0])) << "a gap that is longer than all";
    EXPECT_EQ(ring.at(5'000)[0], 5);
}

LiveSnapshot snapshot(std::int64_t second, std::size_t rules, double pps) {
    LiveSnapshot made{.number = static_cast<std::uint64_t>(second + 1), .second = second};
    made.rates = LiveRates{};
    made.rates->offered.pps = pps;
    for (std::size_t i = 0; i < rules; ++i) {
        LiveRule rule{.id = "r" + std::to_string(i)};
        rule.matched.pps = pps / static_cast<double>(i + 1);
        made.rules.push_back(rule);
    }
    return made;
}

TEST(LiveHistory, TellsTheSecondsUpToTheNewest) {
    LiveHistory history;
    history.put(snapshot(0, 1, 100));
    history.put(snapshot(3, 1, 400));
    const Json columns = history.totals(3, 5);
    EXPECT_EQ(columns.at("offered_pps").dump(), "[null,100,null,null,400]");
    EXPECT_EQ(columns.at("passed_bps").dump(), "[null,null,null,null,null]");
    EXPECT_EQ(columns.size(), 8U);
    const std::optional<Json> rule = history.of_rule(snapshot(3, 1, 400), "r0", 4);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->at("matched_pps").dump(), "[100,null,null,400]");
    EXPECT_FALSE(history.of_rule(snapshot(3, 1, 400), "none", 4));
}

// Ten thousand rules hold no more than the bound: who was asked about stays before the busiest.
TEST(LiveHistory, HoldsTheBusiestRulesAndThoseAskedAbout) {
    LiveHistory history;
    std::optional<LiveSnapshot> before;
    const auto pass = [&](std::int64_t second) {
        LiveSnapshot next = snapshot(second, 10'000, 1'000'000);
        carry_sparks(before ? &*before : nullptr, next);
        history.put(next);
        before = std::move(next);
    };
    pass(0);
    pass(1);
    const std::optional<Json> quiet = history.of_rule(*before, "r9999", 2);
    ASSERT_TRUE(quiet);
    EXPECT_EQ(quiet->at("matched_pps").dump(), "[100,100]") << "it begins with its minute";
    EXPECT_EQ(quiet->at("refused_pps").dump(), "[null,null]");
    for (int i = 0; i < 1'000; ++i) {
        (void)history.of_rule(*before, "r" + std::to_string(5'000 + i), 1);
    }
    pass(2);
    EXPECT_EQ(history.of_rule(*before, "r0", 3)->at("matched_pps").dump(),
              "[1000000,1000000,1000000]");
}

TEST(CarrySparks, MovesTheMinuteOn) {
    LiveSnapshot first = snapshot(10, 2, 60);
    carry_sparks(nullptr, first);
    LiveSnapshot second = snapshot(13, 2, 90);
    std::swap(second.rules[0], second.rules[1]);  // another set, in another order
    carry_sparks(&first, second);
    const auto& spark = second.rules[1].spark;
    EXPECT_EQ(spark[59], 90);
    EXPECT_TRUE(std::isnan(spark[58]) && std::isnan(spark[57]));
    EXPECT_EQ(spark[56], 60);
    LiveSnapshot late = snapshot(200, 2, 1);
    carry_sparks(&second, late);
    EXPECT_TRUE(std::isnan(late.rules[0].spark[58]));
}

}  // namespace
}  // namespace sluice::live_history_test
