#include "control/daemon/api/named_in.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace sluice::named_in_test {
namespace {

Sought sought(const std::string& words) {
    const Result<Sought> read = read_sought(words);
    EXPECT_TRUE(read) << words;
    return read ? *read : Sought{};
}

RuleSummary rule_when(const std::string& when) {
    RuleSummary rule;
    rule.when = when;
    auto parsed = parse_expression(when);
    EXPECT_TRUE(std::holds_alternative<ParsedExpression>(parsed)) << when;
    if (auto* expression = std::get_if<ParsedExpression>(&parsed)) {
        rule.condition = std::move(expression->tree);
    }
    return rule;
}

// "ip.src", "!ip.src" where it is excepted, one behind the other.
std::string named(const std::string& when, const std::string& words) {
    std::string fields;
    for (const Json& one : named_in(rule_when(when), {}, sought(words))) {
        fields += (fields.empty() ? "" : " ") + std::string{one.at("except") == true ? "!" : ""} +
                  one.at("field").get<std::string>();
    }
    return fields;
}

TEST(NamedIn, FindsComparisonsThatNameIt) {
    EXPECT_EQ(named("ip.src eq 10.0.0.7", "10.0.0.7"), "ip.src");
    EXPECT_EQ(named("ip.src eq 10.0.0.7", "10.0.0.8"), "");
    EXPECT_EQ(named("ip.src in {10.0.0.0/8 2001:db8::/32} and ip.dst ne 10.0.0.7", "10.0.0.7"),
              "ip.src !ip.dst");
    EXPECT_EQ(named("not (ip.src in {10.0.0.0/8} or ip.dst ne 10.0.0.7)", "10.0.0.7"),
              "!ip.src ip.dst");
    EXPECT_EQ(named("ip.src in {10.0.1.0/24}", "10.0.0.0/16"), "ip.src");
    EXPECT_EQ(named("ip.src in {10.0.1.0/24}", "10.0.0.0/24"), "");
    EXPECT_EQ(named("ip.src in {2001:db8::/32}", "2001:db8:9::1"), "ip.src");
    EXPECT_EQ(named("http.host eq \"example.com\"", "Example.com"), "http.host");
    EXPECT_EQ(named("http.host ends_with \".example.com\"", "www.example.com"), "http.host");
    EXPECT_EQ(named("http.host ends_with \".example.com\"", "example.com"), "");
    EXPECT_EQ(named("tls.sni ne \"example.com\"", "example.com"), "!tls.sni");
    EXPECT_EQ(named("ip.proto eq 17", "10.0.0.7"), "");
}

TEST(NamedIn, SaysByWhichEntryOfAList) {
    RuleSummary rule = rule_when("ip.src in {10.0.0.0/8}");
    rule.when = "ip.src in $bad";
    rule.condition.leaf.from_list = true;
    RuleView view;
    view.list_summaries = {{.name = "other", .type = "cidr", .file = "other.txt"},
                           {.name = "bad", .type = "cidr", .file = "bad.txt"}};
    view.lists["bad.txt"] =
        std::make_shared<const std::string>("# bad\n10.9.0.0/16\n10.0.0.0/24\n10.0.0.7\n");
    view.lists["other.txt"] = std::make_shared<const std::string>("10.0.0.7\n");
    const Json names = named_in(rule, view, sought("10.0.0.7"));
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].dump(), R"({"field":"ip.src","except":false,"list":"bad",)"
                               R"("entry":"10.0.0.0/24","line":3,"others":1})");
}

TEST(TruthOf, KnowsOneFieldAlone) {
    const auto truth = [](const std::string& when, const char* field) {
        return truth_of(rule_when(when).condition, field, sought("10.0.0.7"));
    };
    EXPECT_EQ(truth("ip.src eq 10.0.0.7", "ip.src"), Truth::Yes);
    EXPECT_EQ(truth("ip.src eq 10.0.0.8", "ip.src"), Truth::No);
    EXPECT_EQ(truth("ip.src eq 10.0.0.8", "ip.dst"), Truth::Maybe);
    EXPECT_EQ(truth("ip.src ne 10.0.0.8", "ip.src"), Truth::Yes);
    EXPECT_EQ(truth("ip.src ne 10.0.0.7 and ip.proto eq 17", "ip.src"), Truth::No);
    EXPECT_EQ(truth("ip.src eq 10.0.0.7 and ip.proto eq 17", "ip.src"), Truth::Maybe);
    EXPECT_EQ(truth("ip.src eq 10.0.0.8 or ip.proto eq 17", "ip.src"), Truth::Maybe);
    EXPECT_EQ(truth("not ip.src in {10.0.0.0/8}", "ip.src"), Truth::No);
}

TEST(TruthOf, OfANetworkIsWhatHoldsOfAllOfIt) {
    const auto truth = [](const std::string& when) {
        return truth_of(rule_when(when).condition, "ip.src", sought("10.0.0.0/24"));
    };
    EXPECT_EQ(truth("ip.src in {10.0.0.0/16}"), Truth::Yes);
    EXPECT_EQ(truth("ip.src in {10.0.0.0/25}"), Truth::Maybe);
    EXPECT_EQ(truth("not ip.src in {10.0.0.0/25}"), Truth::Maybe);
    EXPECT_EQ(truth("ip.src in {10.0.1.0/24}"), Truth::No);
}

TEST(MayMatch, IsFalseWhereNoFieldLeavesIt) {
    EXPECT_TRUE(may_match(rule_when("ip.src eq 10.0.0.8"), sought("10.0.0.7")));  // as ip.dst
    EXPECT_FALSE(may_match(rule_when("http.host eq \"a.example\" and tls.sni eq \"a.example\" and "
                                     "dns.qname eq \"a.example\" and quic.sni eq \"a.example\""),
                           sought("b.example")));
}

}  // namespace
}  // namespace sluice::named_in_test
