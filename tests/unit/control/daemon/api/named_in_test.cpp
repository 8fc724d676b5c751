#include "control/daemon/api/named_in.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <memory>
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
    const RuleView view;
    ListedEntries lists{view, true};
    for (const Json& one : named_in(rule_when(when), sought(words), lists)) {
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
    EXPECT_EQ(named("ends_with(http.host, \".example.com\")", "www.example.com"), "http.host");
    EXPECT_EQ(named("ends_with(http.host, \".example.com\")", "example.com"), "");
    EXPECT_EQ(named("tls.sni ne \"example.com\"", "example.com"), "!tls.sni");
    EXPECT_EQ(named("ip.proto eq 17", "10.0.0.7"), "");
}

// Hosts and addresses are in fields of names; a key is the whole of a text.
TEST(NamedIn, TakesTextsOfFieldsThatCanBeIt) {
    const std::string begins = "starts_with(http.user_agent, \"curl\")";
    EXPECT_EQ(named("http.user_agent eq \"a.example\"", "a.example"), "");
    EXPECT_EQ(named("http.request.uri contains \"a\"", "a.example"), "");
    EXPECT_EQ(named("http.host contains \"a\"", "a.example"), "http.host");
    EXPECT_EQ(named("http.user_agent eq \"10.0.0.7\"", "10.0.0.7"), "");
    EXPECT_EQ(named("starts_with(http.user_agent, \"1\")", "10.0.0.0/8"), "");
    EXPECT_EQ(named("http.host eq \"10.0.0.7\"", "10.0.0.7"), "http.host");
    EXPECT_EQ(named("http.user_agent eq \"curl\"", "curl"), "http.user_agent");
    EXPECT_EQ(named(begins, "curl"), "");
}

RuleSummary rule_of_list() {
    RuleSummary rule = rule_when("ip.src in {10.0.0.0/8}");
    rule.when = "ip.src in $bad";
    rule.condition.leaf.from_list = true;
    return rule;
}

RuleView view_of_lists() {
    RuleView view;
    view.list_summaries = {{.name = "other", .type = "cidr", .file = "other.txt"},
                           {.name = "bad", .type = "cidr", .file = "bad.txt"}};
    view.lists["bad.txt"] =
        std::make_shared<const std::string>("# bad\n10.9.0.0/16\n10.0.0.0/24\n10.0.0.7\n");
    view.lists["other.txt"] = std::make_shared<const std::string>("10.0.0.7\n");
    return view;
}

TEST(NamedIn, SaysByWhichEntryOfAList) {
    const RuleView view = view_of_lists();
    ListedEntries lists{view, true};
    const Json names = named_in(rule_of_list(), sought("10.0.0.7"), lists);
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].dump(), R"({"field":"ip.src","except":false,"list":"bad",)"
                               R"("entry":"10.0.0.0/24","line":3,"others":1})");
}

// An answer that an address is in a list tells what is in the list.
TEST(NamedIn, TellsOfListsOnlyWhoMayReadThem) {
    const RuleView view = view_of_lists();
    ListedEntries lists{view, false};
    EXPECT_TRUE(named_in(rule_of_list(), sought("10.0.0.7"), lists).empty());
    EXPECT_EQ(lists.reads(), 0U);
}

TEST(NamedIn, ReadsAListOnceForAllRules) {
    const RuleView view = view_of_lists();
    ListedEntries lists{view, true};
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(named_in(rule_of_list(), sought("10.0.0.7"), lists).size(), 1U);
    }
    EXPECT_EQ(lists.reads(), 1U);
    RuleSummary other = rule_of_list();
    other.when = "ip.src in $other";
    EXPECT_EQ(named_in(other, sought("10.0.0.7"), lists).front().at("list").get<std::string>(),
              "other");
    EXPECT_EQ(lists.reads(), 2U);
}

// Comparisons of one list that differ in how they compare have answers of their own.
TEST(NamedIn, ComparesTextsOfAListInEachWay) {
    RuleSummary rule = rule_when(
        "http.host eq \"a\" or ends_with(http.host, \"a\") or starts_with(http.host, \"a\")");
    rule.when =
        "http.host in $hosts or ends_with(http.host, $hosts) or "
        "starts_with(http.host, $hosts)";
    for (Expression& part : rule.condition.parts) {
        part.text.from_list = true;
    }
    RuleView view;
    view.list_summaries.push_back({.name = "hosts", .type = "string", .file = "hosts.txt"});
    view.lists["hosts.txt"] = std::make_shared<const std::string>("one.example\n.example\none.\n");
    ListedEntries lists{view, true};
    std::string entries;
    for (const Json& one : named_in(rule, sought("one.example"), lists)) {
        entries += one.at("entry").get<std::string>() + " ";
    }
    EXPECT_EQ(entries, "one.example one.example one.example ");
    entries.clear();
    ListedEntries of_other{view, true};
    for (const Json& one : named_in(rule, sought("two.example"), of_other)) {
        entries += one.at("entry").get<std::string>() + " ";
    }
    EXPECT_EQ(entries, ".example ");
    EXPECT_EQ(of_other.reads(), 3U);
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

TEST(TruthOf, KnowsTheVersionOfAllAddressesOfAPacket) {
    const auto truth = [](const std::string& when, const char* field, const char* words) {
        return truth_of(rule_when(when).condition, field, sought(words));
    };
    EXPECT_EQ(truth("ip.version eq 6", "ip.src", "8.8.8.8"), Truth::No);
    EXPECT_EQ(truth("ip.version eq 4", "ip.src", "8.8.8.8"), Truth::Yes);
    EXPECT_EQ(truth("ip.version ne 6", "ip.dst", "8.8.8.8"), Truth::Yes);
    EXPECT_EQ(truth("ip.version eq 6", "client.ip", "8.8.8.8"), Truth::Maybe);
    EXPECT_EQ(truth("ip.dst eq 10.0.0.7", "ip.src", "2001:db8::1"), Truth::No);
    EXPECT_EQ(truth("not ip.dst eq 10.0.0.7", "ip.src", "2001:db8::1"), Truth::Yes);
    EXPECT_EQ(truth("ip.dst in {10.0.0.7 2001:db8::/32}", "ip.src", "fd00::1"), Truth::Maybe);
    EXPECT_EQ(truth("outer.ip.dst eq 10.0.0.7", "ip.src", "fd00::1"), Truth::Maybe);
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
    EXPECT_FALSE(may_match(rule_when("ip.version eq 6 and ip.proto eq 17"), sought("8.8.8.8")));
    EXPECT_FALSE(may_match(rule_when("ip.dst eq 10.9.0.99 or ip.src in {172.16.0.0/12}"),
                           sought("fd09::1")));
    EXPECT_TRUE(may_match(rule_when("ip.version eq 6 and client.ip ne 10.0.0.7"),
                          sought("8.8.8.8")));  // as client.ip
    EXPECT_FALSE(may_match(rule_when("http.host eq \"a.example\" and tls.sni eq \"a.example\" and "
                                     "dns.qname eq \"a.example\" and quic.sni eq \"a.example\""),
                           sought("b.example")));
    // One name alone leaves no packet of another.
    EXPECT_FALSE(may_match(rule_when("http.host eq \"moved.example\""), sought("old.example")));
    EXPECT_FALSE(may_match(rule_when("ip.proto eq 17 and dns.qname eq \"ref.example\""),
                           sought("old.example")));
    EXPECT_TRUE(may_match(rule_when("http.host eq \"moved.example\""), sought("moved.example")));
    EXPECT_TRUE(may_match(rule_when("http.host ne \"moved.example\""), sought("old.example")));
    EXPECT_TRUE(may_match(rule_when("http.request.method eq \"GET\""), sought("old.example")));
}

// A condition with a list that names `listed`.
RuleSummary rule_with_list(bool negated) {
    RuleSummary rule = rule_when(negated ? "ip.src ne 10.0.0.8" : "ip.src eq 10.0.0.8");
    rule.condition.leaf.from_list = true;
    rule.condition.leaf.v4.clear();
    return rule;
}

TEST(MayMatch, AListThatDoesNotNameAnAddressLeavesItTheOtherSide) {
    const RuleSummary listed = rule_with_list(false);
    EXPECT_TRUE(may_match(listed, sought("10.0.0.7")));
    EXPECT_EQ(side_met(listed, sought("10.0.0.7")), "");
    EXPECT_TRUE(may_match(listed, sought("10.0.0.7"), ListsSay::NotNamed));
    EXPECT_EQ(side_met(listed, sought("10.0.0.7"), ListsSay::NotNamed), "ip.dst");
    EXPECT_EQ(side_met(rule_with_list(true), sought("10.0.0.7"), ListsSay::NotNamed), "");
    EXPECT_EQ(side_met(rule_when("ip.dst eq 10.0.0.9"), sought("10.0.0.7")), "ip.src");
    EXPECT_EQ(side_met(rule_when("ip.proto eq 17"), sought("10.0.0.7")), "");
    EXPECT_EQ(side_met(rule_when("ip.dst eq 10.0.0.9"), sought("a.example")), "");
}

}  // namespace
}  // namespace sluice::named_in_test
