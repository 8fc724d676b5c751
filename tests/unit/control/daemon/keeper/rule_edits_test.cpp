#include "../keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Single rules of the set in force.
namespace sluice::rule_edits_test {
namespace {

const std::string kRule = "id: c\nwhen: ip.ttl eq 9\non_match: drop\n";

class Edits : public Keeper {
protected:
    RuleChange add(const std::string& text, RulePlace place = {}) {
        return rules().edit({.kind = RuleEdit::Kind::Add,
                             .name = "one.yaml",
                             .text = text,
                             .place = std::move(place),
                             .from = 7});
    }
    RuleChange remove(const std::string& id) {
        return rules().edit({.kind = RuleEdit::Kind::Delete, .id = id, .from = 7});
    }
    std::string text() { return rules().view()->text; }
};

TEST_F(Edits, AreKeptAndUndone) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(kOne).after;
    const RuleChange change = add(kRule, {RulePlace::Where::Before, "b"});
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_NE(change.after, before);
    expect_all(change.after);
    EXPECT_EQ(text().size(), kOne.size() + kRule.size() + 4 * 3);
    EXPECT_EQ(on_disk()->note, "rule add c");
    EXPECT_EQ(on_disk()->on, 2U);
    EXPECT_EQ(on_disk()->changed_by, 7U);
    kill_daemon();
    start_daemon();
    expect_all(change.after);
    ASSERT_FALSE(rules().rollback(7).refusal);
    expect_all(before);
    EXPECT_EQ(text(), kOne);
}

TEST_F(Edits, KeepTheModesAndSettingsOfOtherRules) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(add(kRule).refusal);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 7).refusal);
    ASSERT_FALSE(rules().set_mode("c", Mode::Enforce, 7).refusal);
    ASSERT_FALSE(
        rules()
            .set_key({.rule = "a", .key = "192.0.2.7", .tier = 1, .what = KeySetting::What::Exempt},
                     7)
            .refusal);
    ASSERT_FALSE(remove("c").refusal);
    ASSERT_FALSE(add(kRule).refusal);
    EXPECT_EQ(rules().view()->rules.front().mode, Mode::Monitor);
    EXPECT_EQ(rules().view()->rules.back().mode, Mode::Monitor) << "what was set for it has ended";
    EXPECT_EQ(rules().view()->keys.size(), 1U);
    ASSERT_FALSE(remove("a").refusal);
    EXPECT_TRUE(rules().view()->keys.empty());
}

TEST_F(Edits, AnotherCommentIsAStepOfItsOwn) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kTwo).refusal);
    const std::string tag = rules().view()->tag;
    const std::uint64_t before = in_view();
    const RuleChange change =
        rules().edit({.kind = RuleEdit::Kind::Replace,
                      .id = "c",
                      .name = "one.yaml",
                      .text = "id: c\n# why\nmode: monitor\nwhen: ip.proto eq 17\non_match: drop\n",
                      .in_place_of = tag,
                      .from = 7});
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_EQ(change.after, before) << "the same rules";
    EXPECT_NE(rules().view()->tag, tag);
    EXPECT_NE(text(), kTwo);
    const RuleChange late = rules().edit(
        {.kind = RuleEdit::Kind::Delete, .id = "c", .force = true, .in_place_of = tag});
    EXPECT_EQ(kind_of(late), Refusal::Kind::OthersInForce);
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_EQ(text(), kTwo);
    EXPECT_EQ(rules().view()->tag, tag);
}

TEST_F(Edits, WhatIsRefusedChangesNothing) {
    start_dataplane();
    start_daemon();
    EXPECT_EQ(kind_of(add(kRule)), Refusal::Kind::NoSuchRule) << "no rules were ever applied";
    const std::uint64_t before = apply(kOne).after;
    EXPECT_EQ(kind_of(add("id: a\n")), Refusal::Kind::IsThere);
    EXPECT_EQ(kind_of(add("- x\n- y\n")), Refusal::Kind::DoesNotCompile);
    EXPECT_EQ(kind_of(add(kRule, {RulePlace::Where::After, "y"})), Refusal::Kind::NoSuchRule);
    EXPECT_EQ(kind_of(remove("y")), Refusal::Kind::NoSuchRule);
    const RuleChange wrong = add("# x\nid: c\nkey: [ip.srcc]\nlimits: [none]\n");
    ASSERT_EQ(kind_of(wrong), Refusal::Kind::DoesNotCompile);
    ASSERT_EQ(wrong.refusal->problems.size(), 2U);
    EXPECT_EQ(wrong.refusal->problems[0].file, "one.yaml");
    EXPECT_EQ(wrong.refusal->problems[0].at.line, 3U);
    EXPECT_EQ(wrong.refusal->problems[0].at.column, 7U);
    ASSERT_FALSE(remove("b").refusal);
    EXPECT_EQ(kind_of(remove("a")), Refusal::Kind::Empty);
    dataplane().refuse("no");
    EXPECT_EQ(kind_of(add(kRule)), Refusal::Kind::ByDataplane);
    dataplane().refuse("");
    ASSERT_FALSE(rules().rollback(7).refusal);
    expect_all(before);
    EXPECT_EQ(text(), kOne);
}

std::string rule_with(const std::string& id, const std::string& notify) {
    return "id: " + id +
           "\nkey: [ip.src]\nlimits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]\nnotify: " +
           notify + "\n";
}

// The webhooks of sluice.yaml, for as long as it lives.
class Webhooks {
public:
    explicit Webhooks(std::vector<std::string> names) { set(std::move(names)); }
    Webhooks(const Webhooks&) = delete;
    Webhooks& operator=(const Webhooks&) = delete;
    Webhooks(Webhooks&&) = delete;
    Webhooks& operator=(Webhooks&&) = delete;
    ~Webhooks() { set({}); }
    static void set(std::vector<std::string> names) { notify_targets() = std::move(names); }
};

TEST_F(Edits, OnlyTheirOwnRuleIsRefusedForItsWebhook) {
    start_dataplane();
    start_daemon();
    const Webhooks webhooks{std::vector<std::string>{"ops"}};
    const std::uint64_t before = apply(kOne).after;
    const RuleChange wrong = add(rule_with("c", "opz"));
    ASSERT_EQ(kind_of(wrong), Refusal::Kind::DoesNotCompile);
    const std::vector<Problem>& problems = wrong.refusal->problems;
    const auto error = std::find_if(problems.begin(), problems.end(), [](const Problem& problem) {
        return problem.severity == Severity::Error;
    });
    ASSERT_TRUE(error != problems.end());
    EXPECT_EQ(error->file, "one.yaml");
    EXPECT_EQ(error->at.line, 4U);
    EXPECT_EQ(error->at.column, 9U);
    expect_all(before);
    ASSERT_FALSE(add(rule_with("c", "ops")).refusal);
    Webhooks::set({"other"});
    const RuleChange replaced = rules().edit({.kind = RuleEdit::Kind::Replace,
                                              .id = "c",
                                              .name = "one.yaml",
                                              .text = rule_with("c", "{to: opz}"),
                                              .from = 7});
    EXPECT_EQ(kind_of(replaced), Refusal::Kind::DoesNotCompile);
    // Another rule's webhook has gone, which is warned of.
    const RuleChange beside = add(rule_with("d", "other"));
    ASSERT_FALSE(beside.refusal) << beside.refusal->what;
    EXPECT_TRUE(
        std::any_of(beside.warnings.begin(), beside.warnings.end(), [](const Problem& problem) {
            return problem.severity == Severity::Warning &&
                   problem.message.find("no webhook `ops`") != std::string::npos;
        }));
    EXPECT_FALSE(remove("c").refusal);
}

// A reader who saw none of the sets between has to know since when the rules ask.
TEST_F(Edits, OtherChangesDoNotMoveTheInstantSinceWhenRulesAskForNotices) {
    start_dataplane();
    start_daemon();
    const Webhooks webhooks{std::vector<std::string>{"ops"}};
    ASSERT_FALSE(apply(kOne).refusal);
    const std::int64_t nobody_asked = rules().view()->since;
    ASSERT_FALSE(add(rule_with("c", "{to: ops, on: [limit]}")).refusal);
    const std::int64_t asked = rules().view()->since;
    EXPECT_NE(asked, nobody_asked);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 7).refusal);
    ASSERT_FALSE(add(rule_with("d", "{to: ops, on: [limit]}")).refusal);
    const std::int64_t later = rules().view()->since;
    EXPECT_NE(later, asked) << "another rule asks";
    ASSERT_FALSE(remove("d").refusal);
    ASSERT_FALSE(rules().set_mode("a", Mode::Enforce, 7).refusal);
    EXPECT_EQ(rules().view()->since, later);
    ASSERT_FALSE(rules().set_mode("c", Mode::Off, 7).refusal);
    EXPECT_EQ(rules().view()->since, later);
    ASSERT_FALSE(rules().set_mode("c", Mode::Enforce, 7).refusal);
    EXPECT_NE(rules().view()->since, later) << "a rule that is off asks for nothing";
}

TEST_F(Edits, ARuleInBracketsIsToldFromNone) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(
        apply("version: 1\nrules: [{id: a, when: ip.proto eq 17, on_match: drop}]\n").refusal);
    EXPECT_NE(remove("a").refusal->what.find("the rule a stands in brackets in test.yaml"),
              std::string::npos);
    EXPECT_EQ(remove("b").refusal->what, "there is no rule b in test.yaml");
}

TEST_F(Edits, LeaveOutSettingsWhoseTimeHasRunOut) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(rules()
                     .set_key({.rule = "a",
                               .key = "192.0.2.7",
                               .tier = 1,
                               .what = KeySetting::What::Exempt,
                               .until = wall_ + 2},
                              7)
                     .refusal);
    wall_ += 3;  // and nobody has looked since
    ASSERT_FALSE(add(kRule).refusal);
    EXPECT_TRUE(on_disk()->keys.empty());
}

TEST_F(Edits, WarnOfARuleThatHasEnded) {
    start_dataplane();
    start_daemon();
    const std::string rule = "id: c\nttl: 1m\nwhen: ip.ttl eq 9\non_match: drop\n";
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(add(rule).refusal);
    wall_ += 61;
    tick();
    const RuleChange change = rules().edit(
        {.kind = RuleEdit::Kind::Replace, .id = "c", .name = "one.yaml", .text = rule});
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    ASSERT_EQ(change.warnings.size(), 1U);
    EXPECT_NE(change.warnings[0].message.find("the rule c has ended"), std::string::npos);
}

TEST_F(Edits, LeaveTheProblemOfAListThatTheyDoNotRead) {
    start_dataplane();
    start_daemon();
    std::filesystem::create_directories(folder_ / "etc");
    folder_.write("etc/bad.txt", "192.0.2.0/24\n");
    ASSERT_FALSE(
        rules()
            .apply(file_with_lists("version: 1\ndata: {lists: {bad: {type: cidr, file: "
                                   "bad.txt}}}\nrules:\n  - {id: a, mode: enforce, when: ip.src in "
                                   "$bad, on_match: drop}\n"))
            .refusal);
    folder_.write("etc/bad.txt", "no network\n");
    ASSERT_TRUE(rules().reload_lists().has_value());
    const std::string problem = rules().view()->list_problem;
    ASSERT_FALSE(problem.empty());
    ASSERT_FALSE(
        rules()
            .edit({.kind = RuleEdit::Kind::Add, .name = "x", .text = kRule, .from = ::geteuid()})
            .refusal);
    EXPECT_EQ(rules().view()->list_problem, problem);
}

TEST_F(Edits, OfASetOnTrialStayOnTrial) {
    start_dataplane();
    start_daemon();
    const std::uint64_t kept = apply(kOne).after;
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    const RuleChange change = add("id: d\nwhen: ip.ttl eq 9\non_match: drop\n");
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    ASSERT_TRUE(change.unconfirmed);
    EXPECT_EQ(change.unconfirmed->goes_back_to, kept);
    EXPECT_EQ(on_disk()->generation, kept);
    pass(61s);
    tick();
    expect_all(kept);
    EXPECT_EQ(text(), kOne);
}

TEST_F(Edits, PutARuleOnTrial) {
    start_dataplane();
    start_daemon();
    const std::uint64_t kept = apply(kOne).after;
    const RuleChange change = rules().edit(
        {.kind = RuleEdit::Kind::Add, .name = "one.yaml", .text = kRule, .confirm = 60s});
    ASSERT_TRUE(change.unconfirmed);
    EXPECT_EQ(on_disk()->generation, kept);
    ASSERT_FALSE(rules().confirm().refusal);
    expect_all(change.after);
    EXPECT_EQ(rules().history().size(), 1U);
    ASSERT_FALSE(rules().rollback(7).refusal);
    expect_all(kept);
}

TEST_F(Edits, ListsOfAnotherUserAreReadWithTheRightsOfWhoEdits) {
    start_dataplane();
    start_daemon();
    folder_.write("etc/bad.txt", "192.0.2.0/24\n");
    RuleFile file = file_with_lists(
        "version: 1\ndata: {lists: {bad: {type: cidr, file: bad.txt}}}\nrules:\n  - {id: a, when: "
        "ip.src in $bad, on_match: drop}\n");
    file.lists["bad.txt"] = std::make_shared<const std::string>("198.51.100.0/24\n");
    ASSERT_FALSE(rules().apply(std::move(file)).refusal);
    const RuleChange change =
        rules().edit({.kind = RuleEdit::Kind::Add, .name = "x", .text = kRule, .from = 4711});
    ASSERT_EQ(kind_of(change), Refusal::Kind::DoesNotCompile);
    EXPECT_NE(change.refusal->what.find("were sent along by uid"), std::string::npos);
    EXPECT_EQ(rules().view()->applied_by, ::geteuid());
}

}  // namespace
}  // namespace sluice::rule_edits_test
