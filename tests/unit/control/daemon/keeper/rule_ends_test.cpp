#include "../keeper_fixture.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

// Rules with a ttl.
namespace sluice::rule_ends_test {
namespace {

using Ids = std::vector<std::string>;

// A rule that has ended, as the audit has it.
struct Ended {
    std::string id;
    std::string before;
    std::string after;
};

class Ends : public Keeper {
protected:
    // One tick, and the ends that the audit has since the last call.
    std::vector<Ended> end_rules() {
        rules().end_rules();
        std::ifstream audit{folder_ / "state/audit.log"};
        std::vector<Ended> ended;
        std::size_t number = 0;
        for (std::string line; std::getline(audit, line); ++number) {
            const auto entry = nlohmann::json::parse(line);
            const auto call = entry.at("call").get<std::string>();
            if (number >= read_ && call.starts_with("ttl ")) {
                EXPECT_EQ(entry.at("outcome"), "the rule has ended");
                EXPECT_EQ(entry.at("pid"), ::getpid());
                ended.push_back({call.substr(4), entry.at("before"), entry.at("after")});
            }
        }
        read_ = number;
        return ended;
    }

private:
    std::size_t read_ = 0;
};

// `a` lives for an hour.
const std::string kForAnHour = R"(version: 1
rules:
  - {id: a, mode: enforce, ttl: 1h, when: ip.proto eq 17, on_match: drop}
  - {id: b, mode: monitor, when: ip.proto eq 6, on_match: drop}
)";

std::string for_two_hours() {
    std::string text = kForAnHour;
    return text.replace(text.find("1h"), 2, "2h");
}

Ids ids_of(const std::vector<Ended>& ended) {
    Ids ids;
    for (const Ended& rule : ended) {
        ids.push_back(rule.id);
    }
    return ids;
}

TEST_F(Ends, ARuleEndsWhenItsTtlHasRunOut) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(kForAnHour).after;
    wall_ += 3599;
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    expect_all(before);
    wall_ += 1;
    const std::vector<Ended> ended = end_rules();
    ASSERT_EQ(ids_of(ended), Ids{"a"});
    EXPECT_EQ(ended[0].before, generation_text(before));
    EXPECT_EQ(ended[0].after, generation_text(in_dataplane()));
    EXPECT_NE(in_dataplane(), before);
    expect_all(in_dataplane());
    ASSERT_EQ(dataplane().running().rules.rules.size(), 1U);
    EXPECT_EQ(dataplane().running().rules.rules[0].id, "b");
    const auto view = rules().view();
    ASSERT_EQ(view->rules.size(), 2U);
    EXPECT_EQ(view->rules[0].mode, Mode::Off);
    EXPECT_EQ(view->file_modes[0], Mode::Enforce);
    EXPECT_TRUE(view->lives.at("a").ended);
    EXPECT_EQ(ids_of(end_rules()), Ids{}) << "once";
    EXPECT_EQ(dataplane().times_applied(), 2U);
}

TEST_F(Ends, AnEndOutlastsEveryRestart) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(kForAnHour).after;
    wall_ += 1800;
    start_daemon();
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    expect_all(before);
    // It ends while sluiced is away: the dataplane goes on with what it has until then.
    wall_ += 3600;
    start_daemon();
    expect_all(before);
    EXPECT_FALSE(rules().view()->lives.at("a").ended) << "what is shown is what runs";
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    const std::uint64_t after = in_dataplane();
    expect_all(after);
    start_daemon();
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    EXPECT_TRUE(rules().view()->lives.at("a").ended);
    // A new dataplane is not brought it, and a sluiced that lost its state does not revive it.
    stop_dataplane();
    tick();
    start_dataplane();
    tick();
    expect_all(after);
    folder_.write("state/rules.json", "{");
    start_daemon();
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    expect_all(after);
    EXPECT_TRUE(rules().view()->lives.at("a").ended);
}

TEST_F(Ends, WhatWasSaidOfAKeyForAWhileGivesWayToTheFile) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(R"(version: 1
rules:
  - id: r
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]
    overrides: {inline: [{key: [10.0.0.1], limits: {'1': {burst: 7}}}]}
)")
                                     .after;
    const KeySetting set{
        .rule = "r", .key = "10.0.0.1", .limit = "1", .burst = "9", .until = wall_ + 60};
    ASSERT_FALSE(rules().set_key(set, 0).refusal);
    const std::uint64_t meanwhile = in_dataplane();
    EXPECT_NE(meanwhile, before);
    wall_ += 59;
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    expect_all(meanwhile);
    wall_ += 1;
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    expect_all(before);
    EXPECT_TRUE(rules().view()->keys.empty());
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    EXPECT_EQ(dataplane().times_applied(), 3U) << "once";
}

TEST_F(Ends, AnEndWaitsForADataplane) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kForAnHour).refusal);
    stop_dataplane();
    wall_ += 3600;
    EXPECT_EQ(ids_of(end_rules()), Ids{});
    start_dataplane();
    tick();
    EXPECT_EQ(dataplane().running().rules.rules.size(), 1U) << "brought without the rule";
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    expect_all(in_dataplane());
}

TEST_F(Ends, ApplyingAFileAgainDoesNotBeginARuleAnew) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kForAnHour).refusal);
    wall_ += 1800;
    ASSERT_FALSE(apply(kForAnHour).refusal);
    wall_ += 1800;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    const RuleChange again = apply(kForAnHour);
    EXPECT_EQ(again.rules, 1U);
    ASSERT_EQ(again.warnings.size(), 1U);
    EXPECT_NE(again.warnings[0].message.find("the rule a has ended"), std::string::npos);
    // Nothing in the file is wrong, so that it can be applied strictly as ever.
    const RuleChange strictly = rules().apply(
        {.name = "test.yaml", .text = kForAnHour, .strict = true, .confirm = {}, .from = 7});
    EXPECT_FALSE(strictly.refusal);
    EXPECT_EQ(strictly.warnings.size(), 1U);
    EXPECT_EQ(kind_of(rules().set_mode("a", Mode::Enforce, 0)), Refusal::Kind::NoSuchRule);
    // With a longer ttl it is back for what is left of that; after a file without it, anew.
    EXPECT_EQ(apply(for_two_hours()).rules, 2U);
    wall_ += 3600;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    ASSERT_FALSE(apply(kTwo).refusal);
    EXPECT_EQ(apply(kForAnHour).rules, 2U);
    EXPECT_EQ(on_disk()->lives.at("a").first_applied, wall_);
}

// A mode set at run time is kept beside the end, which wins.
TEST_F(Ends, ModesAndEndsGoTogether) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kForAnHour).refusal);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 0).refusal);
    ASSERT_FALSE(rules().set_mode("b", Mode::Enforce, 0).refusal);
    wall_ += 3600;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    ASSERT_EQ(dataplane().running().rules.rules.size(), 1U);
    EXPECT_EQ(dataplane().running().rules.rules[0].mode, Mode::Enforce);
    EXPECT_EQ(rules().view()->file_modes, (std::vector{Mode::Enforce, Mode::Monitor}));
}

using EndsOnTrial = Ends;

TEST_F(EndsOnTrial, TheDeadlineStaysAsItIs) {
    start_dataplane();
    start_daemon();
    const std::uint64_t old = apply(kOne).after;
    const std::uint64_t tried = try_out(kForAnHour, 2h).after;
    const BootTime end = rules().view()->unconfirmed->end.at;
    pass(1h);
    wall_ += 3600;
    const std::vector<Ended> ended = end_rules();
    ASSERT_EQ(ids_of(ended), Ids{"a"});
    EXPECT_EQ(ended[0].before, generation_text(tried));
    EXPECT_EQ(ended[0].after, generation_text(in_dataplane()));
    EXPECT_EQ(on_disk()->generation, old) << "and nothing is kept";
    ASSERT_TRUE(rules().view()->unconfirmed);
    EXPECT_EQ(rules().view()->unconfirmed->end.at.since, end.since);
    pass(59min);
    tick();
    EXPECT_TRUE(rules().view()->unconfirmed);
    pass(1min);
    tick();
    expect_all(old);
}

TEST_F(EndsOnTrial, ALifeOutlastsARestartAndConfirm) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(try_out(kForAnHour, 1h).refusal);
    const std::int64_t begin = wall_;
    wall_ += 600;
    kill_daemon();
    start_daemon();
    EXPECT_EQ(rules().view()->lives.at("a").first_applied, begin);
    ASSERT_FALSE(rules().confirm().refusal);
    EXPECT_EQ(on_disk()->lives.at("a").first_applied, begin);
    wall_ += 3000;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    expect_all(in_dataplane());
}

TEST_F(EndsOnTrial, WhatWasOnlyOnTrialIsForgotten) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(try_out(kForAnHour, 60s).refusal);
    ASSERT_FALSE(rules().rollback(0).refusal);
    wall_ += 7200;
    EXPECT_EQ(apply(kForAnHour).rules, 2U);
    EXPECT_EQ(on_disk()->lives.at("a").first_applied, wall_);
}

TEST_F(EndsOnTrial, TheLivesOfTheOldSetGoOn) {
    start_dataplane();
    start_daemon();
    const std::uint64_t old = apply(kForAnHour).after;
    const std::int64_t begin = wall_;
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    wall_ += 600;
    // A trial that nobody confirmed was no file without the rule.
    ASSERT_FALSE(try_out(for_two_hours(), 60s).refusal);
    EXPECT_EQ(rules().view()->lives.at("a").first_applied, begin);
    pass(60s);
    tick();
    expect_all(old);
    EXPECT_EQ(on_disk()->lives.at("a").first_applied, begin);
    wall_ += 3000;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
}

TEST_F(EndsOnTrial, TheOldSetComesBackWithoutWhatHasEndedMeanwhile) {
    for (const bool asked : {false, true}) {
        start_dataplane();
        start_daemon();
        const std::uint64_t old = apply(kForAnHour).after;
        ASSERT_FALSE(try_out(kTwo, 60s).refusal);
        wall_ += 3600;
        EXPECT_EQ(ids_of(end_rules()), Ids{}) << "it is not in force";
        if (asked) {
            ASSERT_FALSE(rules().rollback(0).refusal);
        } else {
            pass(60s);
            tick();
        }
        ASSERT_EQ(dataplane().running().rules.rules.size(), 1U);
        EXPECT_EQ(dataplane().running().rules.rules[0].id, "b");
        const std::vector<Ended> ended = end_rules();
        ASSERT_EQ(ids_of(ended), Ids{"a"});
        EXPECT_EQ(ended[0].before, generation_text(old));
        EXPECT_EQ(ended[0].after, generation_text(in_dataplane()));
        EXPECT_FALSE(rules().view()->unconfirmed);
        expect_all(in_dataplane());
        EXPECT_TRUE(on_disk()->lives.at("a").ended);
        ASSERT_FALSE(apply(kTwo).refusal);  // for the next turn: anew
    }
}

using EndsAndRollback = Ends;

TEST_F(EndsAndRollback, ARuleGoesOnWithTheLifeKnownOfItNow) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kForAnHour).refusal);
    wall_ += 3600;
    EXPECT_EQ(ids_of(end_rules()), Ids{"a"});
    ASSERT_FALSE(apply(for_two_hours()).refusal);
    EXPECT_EQ(dataplane().running().rules.rules.size(), 2U);
    ASSERT_FALSE(rules().rollback(0).refusal);
    EXPECT_EQ(dataplane().running().rules.rules.size(), 1U) << "its hour is over";
    expect_all(in_dataplane());
}

TEST_F(EndsAndRollback, NoRuleComesBackToLife) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kForAnHour).refusal);
    const std::int64_t begin = wall_;
    ASSERT_FALSE(apply(kTwo).refusal);
    wall_ += 3600;
    ASSERT_FALSE(rules().rollback(0).refusal);
    EXPECT_EQ(dataplane().running().rules.rules.size(), 1U);
    EXPECT_EQ(rules().view()->lives.at("a"), (RuleLife{begin, true}));
    expect_all(in_dataplane());
}

}  // namespace
}  // namespace sluice::rule_ends_test
