#include "control/daemon/api/finding.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sluice::finding_test {
namespace {

std::vector<RuleSummary> rules_called(const std::vector<std::string>& ids) {
    std::vector<RuleSummary> rules;
    for (const std::string& id : ids) {
        rules.emplace_back().id = id;
    }
    return rules;
}

TEST(MetRules, AreAllWhereThereIsTime) {
    const MetRules met = met_rules(
        rules_called({"a", "b", "c"}), [](const RuleSummary& rule) { return rule.id != "b"; },
        [] { return false; });
    EXPECT_EQ(met.ids, Json({"a", "c"}));
    EXPECT_FALSE(met.cut);
}

TEST(MetRules, EndWhereTheTimeIsUp) {
    std::size_t asked = 0;
    const MetRules met = met_rules(
        rules_called({"a", "b", "c"}),
        [&](const RuleSummary&) {
            ++asked;
            return true;
        },
        [&] { return asked == 2; });
    EXPECT_EQ(met.ids, Json({"a", "b"}));
    EXPECT_TRUE(met.cut);
    EXPECT_EQ(asked, 2U) << "no rule is asked afterwards";
}

TEST(MetRules, AreNotCutWhereTheLastOneWasInTime) {
    std::size_t asked = 0;
    const MetRules met = met_rules(
        rules_called({"a"}),
        [&](const RuleSummary&) {
            ++asked;
            return false;
        },
        [&] { return asked == 1; });
    EXPECT_TRUE(met.ids.empty());
    EXPECT_FALSE(met.cut);
}

}  // namespace
}  // namespace sluice::finding_test
