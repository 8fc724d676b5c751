#include "control/daemon/rule_life.hpp"

#include <gtest/gtest.h>

namespace sluice::rule_life_test {
namespace {

using namespace std::chrono_literals;

RuleSummary rule(const std::string& id, std::optional<Nanoseconds> ttl) {
    RuleSummary summary;
    summary.id = id;
    summary.ttl = ttl;
    return summary;
}

const std::vector<RuleSummary> kRules{rule("a", 60s), rule("b", std::nullopt), rule("c", 1500ms)};

TEST(RuleLife, BeginsWhenItIsFirstSeenAndEndsOnce) {
    const RuleLives first = renewed({}, kRules, 1000);
    EXPECT_EQ(first, (RuleLives{{"a", {1000, false}}, {"c", {1000, false}}}));
    EXPECT_EQ(end_of(kRules[0], first), 1060);
    EXPECT_EQ(end_of(kRules[1], first), std::nullopt);
    EXPECT_EQ(end_of(kRules[2], first), 1002) << "whole seconds, never earlier than said";
    EXPECT_EQ(next_end(kRules, first), 1002);

    const RuleLives later = renewed(first, kRules, 1002);
    EXPECT_EQ(later, (RuleLives{{"a", {1000, false}}, {"c", {1000, true}}}));
    EXPECT_EQ(next_end(kRules, later), 1060);
    EXPECT_EQ(next_end(kRules, renewed(later, kRules, 2000)), std::nullopt);
}

TEST(RuleLife, IsForgottenWithTheRuleAndKeptWithAnotherTtl) {
    const RuleLives ended = renewed(renewed({}, kRules, 1000), kRules, 2000);
    EXPECT_TRUE(renewed(ended, {rule("b", std::nullopt)}, 2000).empty());
    EXPECT_TRUE(renewed(ended, {rule("a", std::nullopt)}, 2000).empty());
    EXPECT_EQ(renewed(ended, {rule("a", 1h)}, 2000), (RuleLives{{"a", {1000, false}}}));
    EXPECT_EQ(renewed({}, kRules, 2000).at("a").first_applied, 2000);
}

TEST(RuleLife, OfATenantThatStandsAsideStays) {
    const RuleLives ended{{"acme:a", {1000, true}}, {"zeta:a", {1000, true}}};
    EXPECT_EQ(renewed(ended, {}, 2000, {{"acme", "why"}}), (RuleLives{{"acme:a", {1000, true}}}));
}

TEST(RuleLife, WhatHasEndedIsOffWhateverElseWasSaid) {
    const RuleLives lives{{"a", {0, true}}, {"c", {0, false}}};
    const ModeOverrides modes{{"a", Mode::Enforce}, {"b", Mode::Monitor}};
    EXPECT_EQ(modes_in_force(modes, lives),
              (ModeOverrides{{"a", Mode::Off}, {"b", Mode::Monitor}}));
}

}  // namespace
}  // namespace sluice::rule_life_test
