#include "lib/policy/rules/lone_condition.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::lone_condition_test {
namespace {

LoneCondition compile(const std::string& when) {
    return compile_lone_condition(when, usual_rss_mapping(), nullptr, {});
}

TEST(LoneCondition, IsOneRuleThatDecidesNothing) {
    const LoneCondition made = compile("ip.src eq 192.0.2.1 and l4.dport in {53 80}");
    ASSERT_TRUE(made.rules.has_value());
    ASSERT_EQ(made.rules->rules.size(), 1U);
    EXPECT_EQ(made.rules->rules[0].mode, Mode::Monitor);
    EXPECT_TRUE(made.problems.empty());
}

struct Wrong {
    const char* when;
    std::uint32_t column;
    const char* what;
};
constexpr Wrong kWrong[] = {
    {"ip.scr eq 192.0.2.1", 1, "did you mean `ip.src`"},
    {"   ip.scr eq 192.0.2.1", 4, "did you mean `ip.src`"},
    {"l4.dport eq 53 and\tip.scr eq 192.0.2.1", 20, "did you mean `ip.src`"},
    {"l4.dport eq 53 and\nip.scr eq 192.0.2.1", 20, "did you mean `ip.src`"},
    {"l4.dport eq 99999", 13, "65535"},
    {"ip.src in $list", 11, "list"},
    {"", 1, "no condition"},
    {" \n ", 1, "no condition"},
    {"http.request.headers[\"x\"] eq \"1\"", 1, "rules alone"},
    {"l4.dport eq 53\n    mode: enforce", 20, ""},
    {"l4.dport eq 53 # why", 16, ""},
};

TEST(LoneCondition, ErrorsSayWhereInTheCondition) {
    for (const Wrong& row : kWrong) {
        const LoneCondition made = compile(row.when);
        EXPECT_FALSE(made.rules.has_value()) << row.when;
        ASSERT_FALSE(made.problems.empty()) << row.when;
        EXPECT_EQ(made.problems[0].at.line, 1U) << row.when;
        EXPECT_EQ(made.problems[0].at.column, row.column) << row.when;
        EXPECT_NE(made.problems[0].message.find(row.what), std::string::npos)
            << row.when << ": " << made.problems[0].message;
    }
}

}  // namespace
}  // namespace sluice::lone_condition_test
