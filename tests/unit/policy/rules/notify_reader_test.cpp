#include "lib/policy/rules/notify_reader.hpp"

#include "lib/policy/box/box.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/values/named_value.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::notify_reader_test {
namespace {

struct Outcome {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;
};

Outcome read(const std::string& notify, const NotifyTargets* targets = nullptr,
             const std::string& more = "") {
    const std::string text =
        "version: 1\n"
        "rules:\n"
        "  - id: login\n"
        "    key: [ip.src]\n"
        "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n" +
        more + "    notify: " + notify + "\n";
    Problems problems{"r"};
    auto rules = compile_rules({.file = "r", .text = text, .targets = targets}, Purpose::Enforce,
                               {}, problems);
    return {std::move(rules), problems.list()};
}

std::string ban() {
    return "    ban: {after: 3, within: 1m, for: 1m}\n";
}

TEST(NotifyReader, ANameAsksForEverything) {
    const Outcome outcome = read("ops");
    ASSERT_TRUE(outcome.rules);
    EXPECT_TRUE(outcome.problems.empty());
    const std::optional<NotifyTerms>& terms = outcome.rules->rules[0].notify;
    ASSERT_TRUE(terms);
    EXPECT_EQ(text_of(*terms), "ops: ban, limit, over, state");
    EXPECT_EQ(value_of(outcome.rules->rules[0].settings, "notify"), "ops: ban, limit, over, state");
}

// Workers tell what notices are made of, and no more.
TEST(NotifyReader, WorkersReportWhatItNeeds) {
    const auto events = [](const Outcome& outcome) {
        return outcome.rules->set.rules.at(0).events;
    };
    EdgeEventSet limits;
    limits.add(EdgeEvent::LimitStart);
    EdgeEventSet both = limits;
    both.add(EdgeEvent::Ban);
    EdgeEventSet bans;
    bans.add(EdgeEvent::Ban);
    EXPECT_EQ(events(read("ops")), limits) << "it has no ban";
    EXPECT_EQ(events(read("ops", nullptr, ban())), both);
    EXPECT_EQ(events(read("{to: ops, on: [ban]}", nullptr, ban())), bans);
    EXPECT_EQ(events(read("{to: ops, on: [state]}", nullptr, ban())), EdgeEventSet{});
    EXPECT_EQ(events(read("{to: ops, on: [over]}", nullptr, ban())), both);
    EXPECT_EQ(events(read("{to: ops, on: [ban]}", nullptr, ban() + "    events: [limit_start]\n")),
              both);
}

TEST(NotifyReader, AnUnknownWebhookIsAnErrorWhereSluiceYamlIsKnown) {
    const NotifyTargets known{.names = std::vector<std::string>{"ops", "duty"}};
    EXPECT_TRUE(read("ops", &known).problems.empty());
    const Outcome refused = read("opz", &known);
    EXPECT_FALSE(refused.rules);
    ASSERT_EQ(refused.problems.size(), 1U);
    EXPECT_EQ(refused.problems[0].severity, Severity::Error);
    EXPECT_EQ(refused.problems[0].at.line, 6U);
    EXPECT_EQ(refused.problems[0].at.column, 13U);
    EXPECT_EQ(refused.problems[0].message,
              "sluice.yaml has no webhook `opz` under `notify`, which has ops, duty; did you mean "
              "`ops`?");
    NotifyTargets kept = known;
    kept.required = false;
    const Outcome warned = read("{to: opz}", &kept);
    EXPECT_TRUE(warned.rules);
    ASSERT_EQ(warned.problems.size(), 1U);
    EXPECT_EQ(warned.problems[0].severity, Severity::Warning);
    EXPECT_EQ(warned.problems[0].at.column, 18U);
    NotifyTargets of_one = known;
    of_one.required_of = "other";
    EXPECT_TRUE(read("opz", &of_one).rules) << "another rule is edited";
    of_one.required_of = "login";
    EXPECT_FALSE(read("opz", &of_one).rules);
    const NotifyTargets unknown;
    const Outcome unsure = read("ops", &unknown);
    EXPECT_TRUE(unsure.rules);
    ASSERT_EQ(unsure.problems.size(), 1U);
    EXPECT_EQ(unsure.problems[0].severity, Severity::Warning);
}

TEST(NotifyReader, WhatIsWrongHasItsPlace) {
    struct Wrong {
        std::string notify;
        std::uint32_t column;
        std::string says;
    };
    const std::vector<Wrong> all{
        {"[ops]", 13, "`notify` is the name of a webhook of sluice.yaml, or"},
        {"\"\"", 13, "`notify` is the name of a webhook"},
        {"{on: [ban]}", 13, "`notify` needs `to`"},
        {"{to: [a]}", 18, "`notify` needs `to`"},
        {"{to: a, on: ban}", 25, "`on` is a list of ban, limit, over, state"},
        {"{to: a, on: []}", 25, "`on` is a list"},
        {"{to: a, on: [bans]}", 26, "did you mean `ban`?"},
        {"{to: a, onn: [ban]}", 21, "did you mean `on`?"},
    };
    for (const Wrong& wrong : all) {
        const Outcome outcome = read(wrong.notify, nullptr, ban());
        EXPECT_FALSE(outcome.rules) << wrong.notify;
        ASSERT_FALSE(outcome.problems.empty()) << wrong.notify;
        const Problem& problem = outcome.problems[0];
        EXPECT_EQ(problem.at.line, 7U) << wrong.notify;
        EXPECT_EQ(problem.at.column, wrong.column) << wrong.notify;
        EXPECT_NE(problem.message.find(wrong.says), std::string::npos) << problem.message;
    }
}

TEST(NotifyReader, ABanThatTheRuleDoesNotHaveIsWarnedOf) {
    const Outcome outcome = read("{to: a, on: [ban, limit]}");
    EXPECT_TRUE(outcome.rules);
    ASSERT_EQ(outcome.problems.size(), 1U);
    EXPECT_EQ(outcome.problems[0].severity, Severity::Warning);
    EXPECT_EQ(outcome.problems[0].message, "the rule has no `ban` to tell of");
}

TEST(NotifyReader, SluiceYamlHasTheWebhooks) {
    Problems problems{"b"};
    const auto box =
        read_box({"b",
                  "version: 1\n"
                  "notify:\n"
                  "  ops: {url: \"https://hooks.example.net/x\", secret_file: s}\n"
                  "  lab: {url: \"https://127.0.0.1:8080/\", secret_file: t, ca_file: c}\n"
                  "  far: {url: \"http://192.0.2.1/\", secret_file: u}\n"},
                 Purpose::Enforce, problems);
    ASSERT_TRUE(box);
    ASSERT_EQ(box->notify.size(), 3U);
    EXPECT_EQ(box->notify[0], (Webhook{"ops", "https://hooks.example.net/x", "s", ""}));
    EXPECT_EQ(box->notify[1], (Webhook{"lab", "https://127.0.0.1:8080/", "t", "c"}));
    ASSERT_EQ(problems.list().size(), 1U) << "of what goes over a network unencrypted";
    EXPECT_EQ(problems.list()[0].at.line, 5U);
    EXPECT_EQ(problems.list()[0].severity, Severity::Warning);
}

}  // namespace
}  // namespace sluice::notify_reader_test
