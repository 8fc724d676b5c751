#include "lib/rules/rule_set.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sluice {
namespace {

Limit ten_per_second() {
    return *Limit::make({.units = Units{10}, .period = std::chrono::seconds{1}}, Units{10});
}

RuleSet example() {
    RuleSet set;
    Rule meter;
    meter.id = "per-source";
    meter.keys.push_back({{.field = Field::IpSrc}});
    meter.limits = {
        {.identity = 1,
         .name = "1",
         .per = Per::Packet,
         .limit = TokenBucketLimit{ten_per_second()}},
        {.identity = 2, .name = "2", .per = Per::Byte, .limit = TokenBucketLimit{ten_per_second()}},
    };
    Rule deny;
    deny.id = "deny";
    deny.on_match = OnMatch::Drop;
    set.rules = {meter, deny};
    return set;
}

TEST(FindFault, FindsNoneInASoundSet) {
    EXPECT_EQ(find_fault(example()), std::nullopt);
    EXPECT_EQ(find_fault(RuleSet{}), std::nullopt);
}

struct Broken {
    std::string_view says;
    void (*break_it)(RuleSet&);
};

const Broken kBroken[] = {
    {"id is empty", [](RuleSet& s) { s.rules[0].id.clear(); }},
    {"too long", [](RuleSet& s) { s.rules[0].id.assign(kMaxRuleIdSize + 1, 'a'); }},
    {"two rules", [](RuleSet& s) { s.rules[1].id = s.rules[0].id; }},
    {"one identity", [](RuleSet& s) { s.rules[0].limits[1].identity = 1; }},
    {"setting", [](RuleSet& s) { s.rules[0].mode = Mode::Off; }},
    {"setting", [](RuleSet& s) { s.rules[0].mode = Mode{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].on_match = OnMatch{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].missing_key = MissingKey{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].on_full = OnFull{9}; }},
    {"setting", [](RuleSet& s) { s.rules[0].on_exceed = Verdict::Reply; }},
    {"setting", [](RuleSet& s) { s.rules[0].tag.dscp = 64; }},
    {"setting", [](RuleSet& s) { s.rules[0].tag.pcp = 8; }},
    {"setting", [](RuleSet& s) { s.rules[0].cost = 0; }},
    {"setting", [](RuleSet& s) { s.rules[0].cost = kMaxCost + 1; }},
    {"conditions", [](RuleSet& s) { s.classifier = Classifier{{.always = {2}}}; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0].resize(kMaxKeyParts + 1); }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].field = Field{99}; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].v4_length = 33; }},
    {"key", [](RuleSet& s) { s.rules[0].keys[0][0].v6_length = 129; }},
    // A key without limits, limits without a key, and limits that come in another order.
    {"follow its keys", [](RuleSet& s) { s.rules[0].keys.clear(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[0].keys.emplace_back(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[1].keys.emplace_back(); }},
    {"follow its keys", [](RuleSet& s) { s.rules[0].limits[1].key = 1; }},
    {"follow its keys",
     [](RuleSet& s) {
         s.rules[0].keys.emplace_back();
         s.rules[0].limits[0].key = 1;
     }},
    {"follow its keys",
     [](RuleSet& s) {
         s.rules[0].keys.resize(3);
         s.rules[0].limits[1].key = 2;
     }},
    {"number of limits", [](RuleSet& s) { s.rules[0].limits.clear(); }},
    {"number of limits", [](RuleSet& s) { s.rules[1].limits = s.rules[0].limits; }},
    {"unknown", [](RuleSet& s) { s.rules[0].limits[0].per = Per{7}; }},
};

TEST(FindFault, TakesTiers) {
    RuleSet set = example();
    set.rules[0].keys.push_back({{.field = Field::IpDst}});
    set.rules[0].limits[1].key = 1;
    EXPECT_EQ(find_fault(set), std::nullopt);
}

TEST(FindFault, NamesWhatIsWrong) {
    for (const Broken& row : kBroken) {
        RuleSet set = example();
        row.break_it(set);
        const std::optional<std::string> fault = find_fault(set);
        ASSERT_TRUE(fault.has_value()) << row.says;
        EXPECT_NE(fault->find(row.says), std::string::npos) << *fault;
    }
}

TEST(FindFault, BoundsTheNumberOfRulesAndLimits) {
    RuleSet set;
    for (std::size_t i = 0; i <= kMaxRules; ++i) {
        Rule rule;
        rule.id = "r" + std::to_string(i);
        rule.on_match = OnMatch::Allow;
        set.rules.push_back(rule);
    }
    EXPECT_NE(find_fault(set)->find("rules"), std::string::npos);
    set.rules.pop_back();
    EXPECT_EQ(find_fault(set), std::nullopt);

    std::uint64_t identity = 0;
    for (Rule& rule : set.rules) {
        rule.on_match = OnMatch::Meter;
        rule.keys.emplace_back();
        for (int i = 0; i < 3; ++i) {
            rule.limits.push_back(
                {.identity = identity++, .name = {}, .limit = TokenBucketLimit{ten_per_second()}});
        }
    }
    EXPECT_NE(find_fault(set)->find("limits"), std::string::npos);
}

}  // namespace
}  // namespace sluice
