#include "lib/rules/rule_actions.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sluice::rule_actions_test {
namespace {

Limit one_per_second() {
    return *Limit::make({.units = Units{1}, .period = std::chrono::seconds{1}}, Units{1});
}

// Every occasion has an action of its own.
Rule rule_with(OnMatch on_match) {
    Rule rule;
    rule.on_match = on_match;
    rule.match_action = 10;
    rule.on_exceed = 11;
    rule.ban.action = 12;
    rule.on_color = {13, 14, 15};
    return rule;
}

std::vector<ActionIndex> used_by(const Rule& rule) {
    std::vector<ActionIndex> used;
    (void)any_action(rule, [&](ActionIndex action) {
        used.push_back(action);
        return false;
    });
    return used;
}

using Actions = std::vector<ActionIndex>;

TEST(RuleActions, AreThoseThatItsPacketsMayComeTo) {
    EXPECT_EQ(used_by(rule_with(OnMatch::Act)), (Actions{10}));
    Rule rule = rule_with(OnMatch::Meter);
    rule.limits.push_back({.limit = TokenBucketLimit{one_per_second()}});
    EXPECT_EQ(used_by(rule), (Actions{11}));
    rule.ban.boxes.push_back({.limit = PenaltyLimit{}});
    EXPECT_EQ(used_by(rule), (Actions{11, 12}));
    rule.limits.push_back({.limit = *ColorLimit::make(ColorVariant::Rfc4115, ColorMode::Blind,
                                                      one_per_second(), one_per_second())});
    EXPECT_EQ(used_by(rule), (Actions{11, 12, 13, 14, 15}));
}

TEST(RuleActions, AreAllThatItNamesWhereTheyAreChecked) {
    Actions named;
    for (const UsedAction& one : actions_of(rule_with(OnMatch::Act))) {
        named.push_back(one.action);
    }
    EXPECT_EQ(named, (Actions{10, 11, 12, 13, 14, 15}));
}

}  // namespace
}  // namespace sluice::rule_actions_test
