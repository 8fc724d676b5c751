#include "control/daemon/api/explained_rules.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace sluice::explained_rules_test {
namespace {

using View = std::shared_ptr<const RuleView>;
using Rules = std::shared_ptr<const ReplayRules>;

View view_of(const std::string& rule) {
    RuleView view;
    view.file = "test.yaml";
    view.text = "version: 1\nrules:\n  - " + rule + "\n";
    return std::make_shared<const RuleView>(std::move(view));
}

View drop_rule(const std::string& id) {
    return view_of("{id: " + id + ", mode: enforce, when: l4.dport eq 53, on_match: drop}");
}

class Explained : public testing::Test {
protected:
    // Rules that are held keep their address: at another one they were compiled anew.
    Rules ask(const View& view) {
        auto rules = rules_.of(view, box_);
        EXPECT_TRUE(rules) << rules.error().what;
        return rules ? *rules : nullptr;
    }

    ExplainedRules rules_;
    RssMapping box_ = usual_rss_mapping();
    const ExplainedRules::Clock::time_point start_{std::chrono::hours{1}};
};

TEST_F(Explained, CompiledOnceForManyQuestions) {
    const View view = drop_rule("a");
    const Rules first = ask(view);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->summaries.size(), 1U);
    EXPECT_EQ(first->summaries.front().id, "a");
    EXPECT_EQ(ask(view), first);
}

TEST_F(Explained, OtherRulesAndOtherBoxesAreCompiledAnew) {
    const Rules first = ask(drop_rule("a"));
    const View view = drop_rule("b");
    const Rules second = ask(view);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->summaries.front().id, "b");
    box_.workers += 1;
    EXPECT_NE(ask(view), second);
}

TEST_F(Explained, KeptWhileAskedFor) {
    const View view = drop_rule("a");
    const Rules first = ask(view);
    rules_.sweep(view, start_);
    rules_.sweep(view, start_ + ExplainedRules::kKept - std::chrono::nanoseconds{1});
    EXPECT_EQ(ask(view), first);
    rules_.sweep(view, start_ + ExplainedRules::kKept);
    EXPECT_EQ(first.use_count(), 2);  // ours and the kept one
    rules_.sweep(view, start_ + 2 * ExplainedRules::kKept);
    EXPECT_EQ(first.use_count(), 1);
    EXPECT_NE(ask(view), first);
}

TEST_F(Explained, ForgottenWithTheRulesInForce) {
    const View view = drop_rule("a");
    const Rules first = ask(view);
    rules_.sweep(drop_rule("a"), start_);
    EXPECT_EQ(first.use_count(), 1);
}

TEST_F(Explained, WhatDoesNotCompileIsNotKept) {
    const Rules first = ask(drop_rule("a"));
    const auto none = rules_.of(view_of("{id: a, mode: enforce, when: nonsense}"), box_);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::NotSupported);
    EXPECT_EQ(none.error().what.find("the rules in force cannot be compiled again: "), 0U);
    EXPECT_EQ(first.use_count(), 1);
}

}  // namespace
}  // namespace sluice::explained_rules_test
