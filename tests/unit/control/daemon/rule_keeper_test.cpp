#include "control/daemon/rule_keeper.hpp"

#include "keeper_fixture.hpp"
#include "tests/unit/base/little_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::rule_keeper_test {
namespace {

TEST_F(Keeper, AppliesAFile) {
    start_dataplane();
    start_daemon();
    const RuleChange change = apply(kOne);
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_EQ(change.before, 0U);
    EXPECT_EQ(change.rules, 1U);
    expect_all(change.after);
    EXPECT_EQ(dataplane().running().source, kOne);
    EXPECT_EQ(on_disk()->changed_by, 7U);
    const auto view = rules().view();
    EXPECT_EQ(view->file, "test.yaml");
    EXPECT_EQ(view->text, kOne);
    ASSERT_EQ(view->rules.size(), 2U) << "rules that are off are shown too";
    EXPECT_EQ(view->file_modes, (std::vector{Mode::Enforce, Mode::Off}));

    const RuleChange next = apply(kTwo);
    EXPECT_EQ(next.before, change.after);
    EXPECT_NE(next.after, change.after);
    expect_all(next.after);
}

TEST_F(Keeper, WhatIsWrongChangesNothing) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(kOne).after;
    const RuleChange broken = apply("version: 1\nrules:\n  - {id: a, wen: ip.proto eq 17}\n");
    EXPECT_EQ(kind_of(broken), Refusal::Kind::DoesNotCompile);
    ASSERT_FALSE(broken.refusal->problems.empty());
    EXPECT_EQ(broken.refusal->problems[0].file, "test.yaml");
    EXPECT_EQ(broken.refusal->problems[0].at.line, 3U);
    EXPECT_EQ(kind_of(apply(std::string{"\0\xFF", 2})), Refusal::Kind::DoesNotCompile);
    EXPECT_EQ(kind_of(apply("")), Refusal::Kind::DoesNotCompile);
    for (const std::string& empty : {kAllOff, std::string{"version: 1\nrules: []\n"}}) {
        EXPECT_EQ(kind_of(apply(empty)), Refusal::Kind::Empty);
    }
    dataplane().refuse("no room");
    const RuleChange refused = apply(kTwo);
    EXPECT_EQ(kind_of(refused), Refusal::Kind::ByDataplane);
    EXPECT_EQ(refused.refusal->what, "no room");
    expect_all(before);
    EXPECT_EQ(dataplane().times_applied(), 1U);
    EXPECT_EQ(rules().view()->text, kOne);
}

TEST_F(Keeper, AnEmptySetIsAppliedWhenForced) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    const RuleChange change = apply(kAllOff, true);
    ASSERT_FALSE(change.refusal);
    EXPECT_EQ(change.rules, 0U);
    expect_all(change.after);
}

TEST_F(Keeper, WithoutADataplaneNothingChanges) {
    start_daemon();
    EXPECT_EQ(kind_of(apply(kOne)), Refusal::Kind::NoDataplane);
    EXPECT_EQ(in_view(), 0U);
    EXPECT_FALSE(on_disk());

    start_dataplane();
    tick();
    const std::uint64_t before = apply(kOne).after;
    ASSERT_NE(before, 0U);
    dataplane().hang(true);
    EXPECT_EQ(kind_of(apply(kTwo)), Refusal::Kind::NoDataplane);
    EXPECT_EQ(in_view(), before);
    EXPECT_EQ(on_disk()->generation, before);
    // It did take them, but said so to nobody: it is brought ours again.
    EXPECT_NE(in_dataplane(), before);
    dataplane().hang(false);
    tick();
    expect_all(before);
}

TEST_F(Keeper, ADiskThatTakesNoMoreChangesNothing) {
    start_dataplane();
    start_daemon();
    const std::uint64_t before = apply(kOne).after;
    // Even root cannot write to a directory as to a file.
    std::filesystem::create_directories(folder_ / "state/rules.json.new/x");
    EXPECT_EQ(kind_of(apply(kTwo)), Refusal::Kind::NotKept);
    EXPECT_EQ(dataplane().times_applied(), 1U);
    expect_all(before);
}

TEST_F(Keeper, ADataplaneThatUnderstandsOtherRulesIsNoSuccess) {
    start_dataplane();
    start_daemon();
    dataplane().misunderstand(true);
    EXPECT_EQ(kind_of(apply(kOne)), Refusal::Kind::ByDataplane);
    EXPECT_EQ(in_view(), 0U);
    EXPECT_FALSE(on_disk());
}

TEST_F(Keeper, ModesAtRunTime) {
    start_dataplane();
    start_daemon();
    const std::uint64_t as_written = apply(kOne).after;
    const RuleChange change = rules().set_mode("a", Mode::Monitor, 8);
    ASSERT_FALSE(change.refusal);
    EXPECT_EQ(change.before, as_written);
    EXPECT_NE(change.after, as_written);
    expect_all(change.after);
    EXPECT_EQ(dataplane().running().rules.rules.at(0).mode, Mode::Monitor);
    EXPECT_EQ(dataplane().running().modes, R"({"a":"monitor"})");
    EXPECT_EQ(on_disk()->changed_by, 8U);
    const auto view = rules().view();
    EXPECT_EQ(view->rules[0].mode, Mode::Monitor);
    EXPECT_EQ(view->file_modes[0], Mode::Enforce);

    EXPECT_FALSE(rules().set_mode("b", Mode::Enforce, 0).refusal);
    EXPECT_EQ(dataplane().running().rules.rules.size(), 2U);

    EXPECT_FALSE(rules().set_mode("a", Mode::Enforce, 0).refusal);
    EXPECT_FALSE(rules().set_mode("b", Mode::Off, 0).refusal);
    EXPECT_TRUE(on_disk()->modes.empty()) << "as the file says: nothing to remember";
    expect_all(as_written);
}

TEST_F(Keeper, ApplyingAFileEndsTheModesSetBefore) {
    start_dataplane();
    start_daemon();
    const std::uint64_t as_written = apply(kOne).after;
    ASSERT_FALSE(rules().set_mode("a", Mode::Off, 0).refusal);
    EXPECT_EQ(apply(kOne).after, as_written);
    EXPECT_TRUE(on_disk()->modes.empty());
}

TEST_F(Keeper, TheSameSetAgainKeepsTheNoteOfWhatItChanged) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    ASSERT_FALSE(apply(kTwo).refusal);
    const std::string note = "apply: added c; removed a, b";
    ASSERT_EQ(on_disk()->note, note);
    ASSERT_FALSE(apply(kTwo).refusal);
    EXPECT_EQ(on_disk()->note, note);
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    ASSERT_FALSE(rules().confirm().refusal);
    EXPECT_EQ(on_disk()->note, note);

    ASSERT_FALSE(try_out(kOne, 60s).refusal);
    ASSERT_FALSE(apply(kTwo).refusal) << "which ends the trial of another set";
    EXPECT_EQ(on_disk()->note, note);
    ASSERT_FALSE(apply(kOne).refusal);
    EXPECT_EQ(on_disk()->note, "apply: added a, b; removed c");
}

TEST_F(Keeper, ModesThatAreRefused) {
    start_dataplane();
    start_daemon();
    EXPECT_EQ(kind_of(rules().set_mode("a", Mode::Off, 0)), Refusal::Kind::NoSuchRule);
    const std::uint64_t before = apply(kNotYet).after;
    ASSERT_NE(before, 0U);
    EXPECT_EQ(kind_of(rules().set_mode("nobody", Mode::Off, 0)), Refusal::Kind::NoSuchRule);
    const RuleChange not_yet = rules().set_mode("later", Mode::Enforce, 0);
    EXPECT_EQ(kind_of(not_yet), Refusal::Kind::DoesNotCompile);
    ASSERT_FALSE(not_yet.refusal->problems.empty());
    EXPECT_EQ(not_yet.refusal->problems[0].at.line, 3U);
    expect_all(before);
}

TEST_F(Keeper, ABoxOfNoClusterRefusesLimitsThatBoxesShare) {
    using Kind = BoxCluster::Kind;
    start_dataplane();
    start_daemon();
    const std::string shared =
        "version: 1\nrules:\n  - {id: a, mode: enforce, key: [ip.src], scope: cluster, limits: "
        "[{algorithm: token_bucket, rate: 10/s, burst: 1000}]}\n";
    for (const Kind kind : {Kind::None, Kind::Storeless}) {
        link().set_cluster({.kind = kind});
        const RuleChange refused = apply(shared);
        EXPECT_EQ(kind_of(refused), Refusal::Kind::DoesNotCompile);
        ASSERT_EQ(refused.refusal->problems.size(), 1U);
        EXPECT_NE(refused.refusal->problems[0].message.find("`store`"), std::string::npos);
    }
    link().set_cluster({.kind = Kind::Member, .size = 2});
    EXPECT_FALSE(apply(shared).refusal);
    EXPECT_EQ(rules().view()->rules[0].limits[0].cluster->cluster.size, 2);
}

TEST_F(Keeper, ARestartedDaemonReattaches) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    const std::uint64_t running = rules().set_mode("a", Mode::Monitor, 0).after;
    start_daemon();
    expect_all(running);
    EXPECT_EQ(rules().view()->file_modes[0], Mode::Enforce);
    EXPECT_EQ(dataplane().times_applied(), 2U) << "nothing is pushed that runs already";
}

TEST_F(Keeper, ARestartedDataplaneIsBroughtTheRules) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    const std::uint64_t running = rules().set_mode("a", Mode::Monitor, 0).after;
    stop_dataplane();
    tick();
    start_dataplane();
    EXPECT_EQ(in_dataplane(), 0U);
    tick();
    expect_all(running);
    EXPECT_EQ(dataplane().running().modes, R"({"a":"monitor"})");
}

ApplyRules compiled(const std::string& text) {
    Problems problems{"x"};
    auto rules = compile_rules({"x", text}, Purpose::Enforce, {}, problems);
    return {rules->set, text, "{}"};
}

TEST_F(Keeper, ADataplaneWithOtherRulesIsBroughtOurs) {
    start_dataplane();
    start_daemon();
    const std::uint64_t ours = apply(kOne).after;
    stop_dataplane();
    start_dataplane();
    dataplane().run(compiled(kTwo));
    tick();
    expect_all(ours);
}

TEST_F(Keeper, WithoutRulesOfOurOwnThoseOfTheDataplaneAreTaken) {
    start_dataplane();
    ApplyRules theirs = compiled(kOne);
    theirs.modes = R"({"b":"off"})";
    dataplane().run(theirs);
    start_daemon();
    EXPECT_NE(in_dataplane(), 0U);
    expect_all(in_dataplane());
    EXPECT_EQ(dataplane().times_applied(), 0U);
    EXPECT_EQ(rules().view()->text, kOne);
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"b", Mode::Off}}));
}

TEST_F(Keeper, ADamagedStoreIsNotTheEndOfTheRules) {
    start_dataplane();
    start_daemon();
    const std::uint64_t running = apply(kOne).after;
    folder_.write("state/rules.json", "{");
    start_daemon();
    expect_all(running);
    EXPECT_EQ(dataplane().times_applied(), 1U);
}

TEST_F(Keeper, WhatADataplaneRefusesIsTriedAgain) {
    start_dataplane();
    start_daemon();
    const std::uint64_t ours = apply(kOne).after;
    stop_dataplane();
    start_dataplane();
    dataplane().refuse("no room");
    tick();
    EXPECT_EQ(in_dataplane(), 0U);
    dataplane().refuse("");
    tick();
    expect_all(ours);
}

TEST_F(Keeper, TheFirstRulesAreAppliedWhenThereAreNone) {
    folder_.write("first.yaml", kOne);
    start_daemon(folder_ / "first.yaml");
    EXPECT_EQ(in_view(), 0U);
    start_dataplane();
    tick();
    EXPECT_NE(in_dataplane(), 0U);
    expect_all(in_dataplane());
    EXPECT_EQ(rules().view()->file, folder_ / "first.yaml");

    // Later starts keep what was applied since.
    const std::uint64_t later = apply(kTwo).after;
    start_daemon(folder_ / "first.yaml");
    expect_all(later);
}

// Rules stored by a version that was content with more than this one.
TEST_F(Keeper, RulesInForceThatDoNotCompileAnyMoreAreTold) {
    start_dataplane();
    start_daemon();
    const std::uint64_t kept = apply(kOne).after;
    EXPECT_EQ(rules().view()->problem, "");
    kill_daemon();
    StoredRules stored = *on_disk();
    stored.text.replace(stored.text.find("ip.ttl"), 6, "ip.tll");
    const Store store{folder_ / "state"};
    auto pending = store.prepare_change(*on_disk(), stored);
    ASSERT_TRUE(pending && store.commit(*pending));
    start_daemon();
    EXPECT_EQ(in_dataplane(), kept) << "it goes on with them";
    EXPECT_TRUE(rules().view()->problem.starts_with("test.yaml:4:")) << rules().view()->problem;
    EXPECT_NE(rules().view()->problem.find("unknown field"), std::string::npos);
    EXPECT_FALSE(apply(kOne).refusal);
    EXPECT_EQ(rules().view()->problem, "");
}

TEST_F(Keeper, AProblemOfTheRulesOfADataplaneIsOverWithThatDataplane) {
    start_dataplane();
    ApplyRules theirs = compiled(kTwo);
    theirs.source = "version: 1\nrules: none\n";
    dataplane().run(theirs);
    const std::uint64_t kept = in_dataplane();
    start_daemon();
    EXPECT_TRUE(rules().view()->problem.starts_with("(from the dataplane):"))
        << rules().view()->problem;
    EXPECT_EQ(in_dataplane(), kept) << "it keeps them";
    stop_dataplane();
    tick();
    start_dataplane();
    tick();
    EXPECT_TRUE(connected());
    EXPECT_EQ(rules().view()->problem, "");
}

// Nothing is wrong with the rules: they come as soon as they can be compiled.
TEST_F(Keeper, AShortageOfMemoryIsOverOnceItPasses) {
    start_dataplane();
    start_daemon();
    const std::uint64_t kept = apply(kOne).after;
    stop_dataplane();
    tick();
    start_dataplane();
    {
        const test::LittleMemory none{0};
        tick();
        EXPECT_EQ(in_dataplane(), 0U);
    }
    tick();
    expect_all(kept);
}

// The same of rules that only the dataplane knows.
TEST_F(Keeper, RulesAreTakenOverOnceThereIsMemory) {
    start_dataplane();
    start_daemon();
    const std::uint64_t kept = apply(kOne).after;
    kill_daemon();
    std::filesystem::remove_all(folder_ / "state");
    {
        const test::LittleMemory none{0};
        start_daemon();
        EXPECT_EQ(in_view(), 0U);
    }
    tick();
    EXPECT_EQ(in_view(), kept);
}

TEST_F(Keeper, FirstRulesThatCannotBeAreLeftOut) {
    folder_.write("broken.yaml", "version: 2\n");
    folder_.write("off.yaml", kAllOff);
    start_dataplane();
    for (const char* name : {"broken.yaml", "off.yaml", "absent.yaml"}) {
        start_daemon(folder_ / name);
        EXPECT_EQ(in_view(), 0U) << name;
        EXPECT_EQ(dataplane().times_applied(), 0U) << name;
    }
    EXPECT_FALSE(apply(kOne).refusal);
}

}  // namespace
}  // namespace sluice::rule_keeper_test
