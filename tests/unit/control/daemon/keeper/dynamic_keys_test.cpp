#include "../keeper_fixture.hpp"

#include "control/daemon/api/own_metrics.hpp"
#include "lib/policy/overrides/dynamic_terms.hpp"

#include <gtest/gtest.h>

// Numbers of single keys of rules with `dynamic`.
namespace sluice::dynamic_keys_test {
namespace {

std::string rule(const std::string& ceiling) {
    return "version: 1\nrules:\n  - id: a\n    mode: enforce\n    key: [ip.src]\n"
           "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 10}]\n"
           "    dynamic: {source: api, ttl: 10m, floor: 1/s, ceiling: " +
           ceiling + "}\n";
}

KeySetting rate(const std::string& key, const std::string& rate, std::int64_t until = 0) {
    return {.rule = "a", .key = key, .limit = "1", .rate = rate, .until = until};
}

std::string address(std::size_t number) {
    return "10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256);
}

KeySettings many(std::size_t from, std::size_t count) {
    KeySettings settings;
    for (std::size_t i = 0; i < count; ++i) {
        settings.push_back(rate(address(from + i), "2/s"));
    }
    return settings;
}

class Dynamic : public Keeper {
protected:
    void SetUp() override {
        start_dataplane();
        start_daemon();
        ASSERT_FALSE(apply(rule("500/s")).refusal);
    }
    // The time per packet that the dataplane has for its only key with numbers; 0: it has none.
    std::uint64_t ns_per_packet() {
        const auto overrides = dataplane().running().rules.rules[0].overrides;
        if (overrides == nullptr) {
            return 0;
        }
        const Limit& limit = std::get<TokenBucketLimit>(overrides->numbers[0].numbers).gcra;
        return limit.period() / limit.parts();
    }
};

TEST_F(Dynamic, ANumberEndsByItselfAndASetRenewsIt) {
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "100/s"), 7).refusal);
    EXPECT_EQ(rules().view()->keys.at(0).until, wall_ + 600);
    EXPECT_EQ(ns_per_packet(), 10'000'000U);
    wall_ += 599;
    rules().end_rules();
    EXPECT_EQ(ns_per_packet(), 10'000'000U);
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "200/s"), 7).refusal);
    wall_ += 599;
    rules().end_rules();
    EXPECT_EQ(ns_per_packet(), 5'000'000U);
    wall_ += 1;
    rules().end_rules();
    EXPECT_EQ(ns_per_packet(), 0U);
    EXPECT_TRUE(rules().view()->keys.empty());
}

// The sweep comes once in a while; what is shown is what holds.
TEST_F(Dynamic, WhatHasEndedIsNotCountedBeforeItIsSwept) {
    ASSERT_FALSE(rules().set_keys(many(0, 3), 7).refusal);
    ASSERT_FALSE(rules().set_key(rate(address(3), "2/s", wall_ + 60), 7).refusal);
    EXPECT_EQ(rules().dynamic_count().by_rule.at("a"), 4U);
    wall_ += 60;
    EXPECT_EQ(rules().view()->keys.size(), 4U) << "not swept yet";
    EXPECT_EQ(rules().dynamic_count().by_rule.at("a"), 3U);
    EXPECT_EQ(rules().dynamic_count().in_all, 3U);
    const std::string text = dynamic_metrics(rules().dynamic_count(), rules().refused_sets());
    EXPECT_NE(text.find("sluice_rule_dynamic_keys{rule=\"a\"} 3\n"), std::string::npos) << text;
}

TEST_F(Dynamic, NoNumberOutlivesTheTtl) {
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "100/s", wall_ + 3600), 7).refusal);
    EXPECT_EQ(rules().view()->keys.at(0).until, wall_ + 600);
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "100/s", wall_ + 60), 7).refusal);
    EXPECT_EQ(rules().view()->keys.at(0).until, wall_ + 60);
}

TEST_F(Dynamic, ANumberOutsideChangesNothing) {
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "100/s"), 7).refusal);
    const std::uint64_t before = in_dataplane();
    const RuleChange change =
        rules().set_keys({rate("10.0.0.2", "5/s"), rate("10.0.0.1", "501/s")}, 7);
    EXPECT_EQ(kind_of(change), Refusal::Kind::DoesNotCompile);
    ASSERT_FALSE(change.refusal->problems.empty());
    EXPECT_NE(change.refusal->problems[0].message.find("floor 1/s, ceiling 500/s"),
              std::string::npos);
    expect_all(before);
    EXPECT_EQ(rules().view()->keys.size(), 1U) << "all of a call or none";
}

TEST_F(Dynamic, AnotherFileHoldsWhatIsSetAndGivesItBack) {
    ASSERT_FALSE(rules().set_key(rate("10.0.0.1", "400/s"), 7).refusal);
    const RuleChange lower = apply(rule("100/s"));
    ASSERT_FALSE(lower.refusal);
    ASSERT_EQ(lower.warnings.size(), 1U);
    EXPECT_EQ(ns_per_packet(), 10'000'000U) << "the new ceiling";
    ASSERT_FALSE(apply(rule("500/s")).refusal);
    EXPECT_EQ(ns_per_packet(), 2'500'000U) << "as it was set";
    start_daemon();
    EXPECT_EQ(rules().view()->keys.at(0).rate, "400/s") << "over a restart";
}

TEST_F(Dynamic, ARuleHasABoundedNumberOfThem) {
    ASSERT_FALSE(rules().set_keys(many(0, kMaxDynamicKeys), 7).refusal);
    const std::uint64_t before = in_dataplane();
    const RuleChange full = rules().set_key(rate(address(kMaxDynamicKeys), "2/s"), 7);
    EXPECT_EQ(kind_of(full), Refusal::Kind::TooLarge);
    EXPECT_NE(
        full.refusal->what.find("the rule a has as many dynamic numbers as it may have, 4000"),
        std::string::npos);
    expect_all(before);
    EXPECT_FALSE(rules().set_key(rate(address(0), "3/s"), 7).refusal) << "a renewal takes no place";
    KeySetting ban{.rule = "a", .key = address(kMaxDynamicKeys), .what = KeySetting::What::Banned};
    EXPECT_FALSE(rules().set_key(ban, 7).refusal) << "an operator's ban is none of them";
    const std::string text = dynamic_metrics(rules().dynamic_count(), rules().refused_sets());
    EXPECT_NE(text.find("sluice_rule_dynamic_keys{rule=\"a\"} 4000\n"), std::string::npos) << text;
}

TEST_F(Dynamic, RefusalsAreCountedForRulesThereAre) {
    RefusedSets refused;
    const std::vector<RuleSummary>& there = rules().view()->rules;
    refused.count("a", there);
    refused.count("a", there);
    refused.count("gone", there);
    EXPECT_EQ(refused.of("a"), 2U);
    EXPECT_EQ(refused.of("gone"), 0U);
    const std::string text = dynamic_metrics(rules().dynamic_count(), refused);
    EXPECT_NE(text.find("sluice_rule_dynamic_refused_total{rule=\"a\"} 2\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::dynamic_keys_test
