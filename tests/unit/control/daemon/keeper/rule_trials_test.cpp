#include "../keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

// `apply --confirm`, `confirm` and `rollback`, with deaths in between.
namespace sluice::rule_trial_test {
namespace {

const std::string kThree = R"(version: 1
rules:
  - {id: d, mode: enforce, when: ip.proto eq 6, on_match: drop}
)";

// `a` as in kOne.
const std::string kMore = R"(version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
  - {id: c, mode: enforce, when: ip.proto eq 17, on_match: drop}
)";

// Another rule, by sources; and `a` of kOne, by networks.
const std::string kKeyed = R"(version: 1
rules:
  - {id: e, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
)";
const std::string kWider = R"(version: 1
rules:
  - {id: a, mode: enforce, key: ['prefix(ip.src, 24|64)'], limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]}
)";

class OnTrial : public Keeper {
protected:
    // kOne is kept, another set is on trial for a minute.
    void begin(const std::string& text = kTwo) {
        start_dataplane();
        start_daemon();
        old_ = apply(kOne).after;
        const RuleChange change = try_out(text, 60s);
        ASSERT_FALSE(change.refusal) << change.refusal->what;
        new_ = change.after;
        ASSERT_NE(new_, old_);
    }
    void expect_trial() {
        EXPECT_EQ(in_dataplane(), new_);
        EXPECT_EQ(in_view(), new_);
        ASSERT_TRUE(on_disk());
        EXPECT_EQ(on_disk()->generation, old_);
        EXPECT_EQ(dataplane().kept().rules.generation, old_);
        ASSERT_TRUE(rules().view()->unconfirmed);
        EXPECT_EQ(rules().view()->unconfirmed->goes_back_to, old_);
    }
    void expect_kept(std::uint64_t generation) {
        expect_all(generation);
        EXPECT_EQ(dataplane().kept().rules.generation, generation);
        EXPECT_FALSE(rules().view()->unconfirmed);
        EXPECT_FALSE(std::filesystem::exists(trial_file()));
    }
    std::string trial_file() { return folder_ / "state/rules.unconfirmed.json"; }
    std::vector<std::string> audit() {
        std::ifstream file{folder_ / "state/audit.log"};
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }
    bool is_audited(const std::string& call, const std::string& outcome) {
        const std::vector<std::string> lines = audit();
        return std::ranges::any_of(lines, [&](const std::string& line) {
            return line.find(call) != std::string::npos && line.find(outcome) != std::string::npos;
        });
    }
    std::uint64_t old_ = 0;
    std::uint64_t new_ = 0;
};

TEST_F(OnTrial, RunsAtOnceAndIsNotKept) {
    begin();
    expect_trial();
}

TEST_F(OnTrial, Confirmed) {
    begin();
    pass(59s);
    const RuleChange change = rules().confirm();
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_EQ(change.before, old_);
    EXPECT_EQ(change.after, new_);
    EXPECT_EQ(change.rules, 1U);
    expect_kept(new_);
    pass(1h);
    tick();
    expect_kept(new_);
    kill_daemon();
    start_daemon();
    expect_kept(new_);
    EXPECT_EQ(kind_of(rules().confirm()), Refusal::Kind::NothingToConfirm);
}

TEST_F(OnTrial, GoesBackWhenItsTimeIsOver) {
    begin();
    pass(59s);
    tick();
    expect_trial();
    pass(1s);
    EXPECT_EQ(kind_of(rules().confirm()), Refusal::Kind::NothingToConfirm) << "too late";
    tick();
    expect_kept(old_);
    EXPECT_EQ(rules().view()->reverts, 1U);
    EXPECT_EQ(rules().view()->text, kOne);
    ASSERT_EQ(audit().size(), 1U);
    EXPECT_NE(audit()[0].find(R"("call":"revert")"), std::string::npos) << audit()[0];
    EXPECT_NE(audit()[0].find("not confirmed in time"), std::string::npos);
}

TEST_F(OnTrial, ARestartedDaemonKeepsWaitingForTheRest) {
    begin();
    pass(30s);
    kill_daemon();
    pass(20s);
    start_daemon();
    expect_trial();
    pass(9s);
    tick();
    expect_trial();
    pass(1s);
    tick();
    expect_kept(old_);
}

TEST_F(OnTrial, ARestartedDaemonGoesBackAtOnceWhenTheTimeIsOver) {
    begin();
    kill_daemon();
    pass(61s);
    EXPECT_EQ(in_dataplane(), new_) << "without sluiced the dataplane goes on";
    start_daemon();
    expect_kept(old_);
    EXPECT_EQ(audit().size(), 1U);
}

TEST_F(OnTrial, CanBeConfirmedAfterARestart) {
    begin();
    kill_daemon();
    pass(30s);
    start_daemon();
    EXPECT_FALSE(rules().confirm().refusal);
    expect_kept(new_);
}

TEST_F(OnTrial, AnotherStartOfTheMachineMeansTheOldSet) {
    begin();
    kill_daemon();
    const ApplyRules kept = dataplane().kept();
    stop_dataplane();
    reboot();
    start_dataplane();
    dataplane().run(kept);
    start_daemon();
    EXPECT_EQ(in_dataplane(), old_);
    EXPECT_EQ(in_view(), old_);
    EXPECT_FALSE(rules().view()->unconfirmed);
    EXPECT_FALSE(std::filesystem::exists(trial_file()));
}

TEST_F(OnTrial, ADataplaneThatWasRestartedEndsIt) {
    begin();
    const ApplyRules kept = dataplane().kept();
    stop_dataplane();
    tick();
    start_dataplane();
    dataplane().run(kept);
    tick();
    EXPECT_EQ(in_dataplane(), old_) << "the trial may be what it died of";
    EXPECT_EQ(in_view(), old_);
    EXPECT_FALSE(rules().view()->unconfirmed);
    EXPECT_EQ(kind_of(rules().confirm()), Refusal::Kind::NothingToConfirm);
}

TEST_F(OnTrial, GoesBackWhenTheDataplaneIsThereAgain) {
    begin();
    dataplane().hang(true);
    pass(61s);
    tick();
    EXPECT_EQ(in_view(), old_);
    dataplane().hang(false);
    tick();
    expect_kept(old_);
}

TEST_F(OnTrial, AnOldSetThatIsRefusedIsTriedAgain) {
    begin();
    dataplane().refuse("no room");
    pass(61s);
    tick();
    EXPECT_EQ(in_dataplane(), new_);
    EXPECT_TRUE(audit().empty());
    dataplane().refuse("");
    tick();
    expect_kept(old_);
    EXPECT_EQ(audit().size(), 1U);
}

TEST_F(OnTrial, AFullDiskIsNotInTheWayBack) {
    begin();
    std::filesystem::create_directories(folder_ / "state/rules.json.new/x");
    pass(61s);
    tick();
    expect_kept(old_);
}

TEST_F(OnTrial, ANewerTrialTakesItsPlaceAndGoesBackToTheKeptOne) {
    begin();
    pass(50s);
    const RuleChange change = try_out(kThree, 60s);
    ASSERT_FALSE(change.refusal);
    EXPECT_EQ(change.before, new_);
    new_ = change.after;
    pass(50s);
    tick();
    expect_trial();
    pass(10s);
    tick();
    expect_kept(old_);
}

TEST_F(OnTrial, AFileToStayEndsIt) {
    begin();
    const RuleChange change = apply(kThree);
    ASSERT_FALSE(change.refusal);
    expect_kept(change.after);
    pass(61s);
    tick();
    expect_kept(change.after);
    EXPECT_EQ(rules().rollback(7).after, old_) << "the trial was never kept";
}

TEST_F(OnTrial, WhatIsRefusedLeavesItAsItIs) {
    begin();
    EXPECT_EQ(kind_of(try_out("version: 2\n", 60s)), Refusal::Kind::DoesNotCompile);
    dataplane().refuse("no room");
    EXPECT_EQ(kind_of(try_out(kThree, 1h)), Refusal::Kind::ByDataplane);
    EXPECT_EQ(kind_of(rules().confirm()), Refusal::Kind::ByDataplane);
    EXPECT_EQ(kind_of(rules().rollback(0)), Refusal::Kind::ByDataplane);
    dataplane().refuse("");
    expect_trial();
    kill_daemon();
    start_daemon();
    expect_trial();
    pass(60s);
    tick();
    expect_kept(old_);
}

TEST_F(OnTrial, AModeThatRefusesNothingOutlastsIt) {
    begin(kMore);
    const RuleChange change = rules().set_mode("a", Mode::Monitor, 0);
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_TRUE(change.unconfirmed);
    ASSERT_FALSE(rules().set_mode("c", Mode::Off, 0).refusal);
    kill_daemon();
    start_daemon();
    pass(60s);
    tick();
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"a", Mode::Monitor}})) << "there is no c";
    EXPECT_EQ(rules().view()->rules.at(0).mode, Mode::Monitor);
    EXPECT_NE(in_dataplane(), old_);
    expect_kept(in_dataplane());
    EXPECT_TRUE(is_audited("mode a monitor", "the mode goes on"));
    // The next trial knows nothing of it.
    ASSERT_FALSE(rules().set_mode("a", Mode::Enforce, 0).refusal);
    ASSERT_FALSE(try_out(kMore, 60s).refusal);
    pass(60s);
    tick();
    expect_kept(old_);
    EXPECT_TRUE(on_disk()->modes.empty());
}

TEST_F(OnTrial, ARollbackCarriesThemToo) {
    begin(kMore);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 0).refusal);
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"a", Mode::Monitor}}));
    expect_kept(in_dataplane());
}

TEST_F(OnTrial, ADataplaneThatWentBackAloneIsBroughtThem) {
    begin(kMore);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 0).refusal);
    const ApplyRules kept = dataplane().kept();
    stop_dataplane();
    start_dataplane();
    dataplane().run(kept);
    ASSERT_EQ(in_dataplane(), old_);
    tick();
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"a", Mode::Monitor}}));
    EXPECT_NE(in_dataplane(), old_);
    expect_kept(in_dataplane());
}

TEST_F(OnTrial, EnforceGoesWithIt) {
    begin();
    const RuleChange change = rules().set_mode("c", Mode::Enforce, 0);
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    new_ = change.after;
    expect_trial();
    pass(60s);
    tick();
    expect_kept(old_);
    EXPECT_TRUE(on_disk()->modes.empty());
    EXPECT_TRUE(is_audited("mode c enforce", "the mode goes with it"));
}

TEST_F(OnTrial, ASecondOneGoesBackWithModesOfTheFirst) {
    begin(kMore);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 0).refusal);
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    pass(60s);
    tick();
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"a", Mode::Monitor}}));
    EXPECT_EQ(rules().view()->rules.at(0).mode, Mode::Monitor);
}

// What was set for single keys of a rule that the trial lacks holds again after it.
class BansOnTrial : public OnTrial {
protected:
    // 192.0.2.1 is banned by kOne's `a`, and a set without `a` is on trial for a minute.
    void SetUp() override {
        OnTrial::SetUp();
        start_dataplane();
        start_daemon();
        ASSERT_FALSE(apply(kOne).refusal);
        const RuleChange change = rules().set_keys({kBan}, 7);
        ASSERT_FALSE(change.refusal) << change.refusal->what;
        old_ = change.after;
        const RuleChange trial = try_out(kTwo, 60s);
        ASSERT_FALSE(trial.refusal);
        EXPECT_EQ(told(trial),
                  "the rule a is gone, and 1 setting of its single keys with it: the "
                  "end of the trial brings them back, and `confirm` forgets them");
        EXPECT_TRUE(banned().empty());
    }
    static std::string told(const RuleChange& change) {
        return change.warnings.empty() ? "" : change.warnings.front().message;
    }
    std::vector<std::string> banned() {
        std::vector<std::string> keys;
        for (const KeySetting& one : rules().view()->keys) {
            keys.push_back(one.key);
        }
        return keys;
    }
    // By the table that the dataplane has.
    std::size_t banned_in_force() {
        const ApplyRules running = dataplane().running();
        const auto& table = running.rules.rules.at(0).overrides;
        return table == nullptr ? 0 : table->keys.at(0).rows.size();
    }
    const KeySetting kBan{
        .rule = "a", .key = "192.0.2.1", .tier = 1, .what = KeySetting::What::Banned};
    const std::vector<std::string> kBanned{kBan.key};
};

TEST_F(BansOnTrial, HoldAgainAsItsTimeIsOver) {
    pass(60s);
    tick();
    EXPECT_EQ(banned(), kBanned);
    expect_kept(old_);
}

TEST_F(BansOnTrial, HoldAgainByARollback) {
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_EQ(banned(), kBanned);
    expect_kept(old_);
}

TEST_F(BansOnTrial, OutlastARestartAndAnotherTrial) {
    kill_daemon();
    start_daemon();
    ASSERT_FALSE(try_out(kThree, 60s).refusal);
    kill_daemon();
    start_daemon();
    pass(60s);
    tick();
    EXPECT_EQ(banned(), kBanned);
    expect_kept(old_);
}

TEST_F(BansOnTrial, HoldInASecondOneThatHasTheRule) {
    ASSERT_FALSE(try_out(kMore, 60s).refusal);
    EXPECT_EQ(banned(), kBanned);
    // An unban there is of what holds, and nothing brings the ban back.
    ASSERT_FALSE(rules().unset_keys({{.rule = "a", .key = kBan.key, .bans = true}}, 7).refusal);
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_TRUE(banned().empty());
}

TEST_F(BansOnTrial, HoldAgainWhereTheRuleWasTakenOutOnTrial) {
    ASSERT_FALSE(rules().rollback(7).refusal);
    const auto remove = [&](const std::string& id) {
        return rules().edit(
            {.kind = RuleEdit::Kind::Delete, .id = id, .force = true, .confirm = 60s, .from = 7});
    };
    ASSERT_FALSE(remove("a").refusal);
    EXPECT_TRUE(banned().empty());
    ASSERT_FALSE(remove("b").refusal);
    pass(60s);
    tick();
    EXPECT_EQ(banned(), kBanned);
    expect_kept(old_);
}

TEST_F(BansOnTrial, EndMeanwhile) {
    ASSERT_FALSE(rules().rollback(7).refusal);
    KeySetting brief = kBan;
    brief.key = "192.0.2.2";
    brief.until = wall_ + 30;
    ASSERT_FALSE(rules().set_keys({brief}, 7).refusal);
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    wall_ += 60;
    pass(60s);
    tick();
    EXPECT_EQ(banned(), kBanned);
}

// All of what is set is there after a restart: no more is taken than is read back.
TEST_F(BansOnTrial, CountForWhatMayBeSet) {
    ASSERT_FALSE(try_out(kKeyed, 60s).refusal);
    KeySettings many;
    for (std::size_t i = 0; i < kMaxKeySettings; ++i) {
        many.push_back({.rule = "e",
                        .key = fmt::format("10.0.{}.{}", i / 256, i % 256),
                        .what = KeySetting::What::Banned});
    }
    const RuleChange change = rules().set_keys(many, 7);
    ASSERT_TRUE(change.refusal);
    EXPECT_EQ(change.refusal->kind, Refusal::Kind::TooLarge);
    many.pop_back();
    ASSERT_FALSE(rules().set_keys(many, 7).refusal);
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_EQ(banned(), kBanned);
}

// A source that is banned is no network, and none of it bears the ban on trial.
TEST_F(BansOnTrial, AreOfTheKeysOfTheRuleThatTheyWereSetFor) {
    ASSERT_FALSE(rules().rollback(7).refusal);
    ASSERT_EQ(rules().view()->keys.at(0).of, "ip.src");
    ASSERT_FALSE(try_out(kWider, 60s).refusal);
    EXPECT_EQ(banned_in_force(), 0U);
    pass(60s);
    tick();
    EXPECT_EQ(banned_in_force(), 1U);
    expect_kept(old_);
}

TEST_F(BansOnTrial, AreSaidToGoWithTheirRule) {
    ASSERT_FALSE(rules().rollback(7).refusal);
    EXPECT_EQ(told(apply(kTwo)), "the rule a is gone, and 1 setting of its single keys with it");
    EXPECT_EQ(told(apply(kOne)), "");
}

TEST_F(BansOnTrial, AreForgottenWhereItIsConfirmed) {
    ASSERT_FALSE(rules().confirm().refusal);
    ASSERT_FALSE(apply(kOne).refusal);
    EXPECT_TRUE(banned().empty());
}

TEST_F(OnTrial, RollbackEndsItNow) {
    begin();
    const RuleChange change = rules().rollback(7);
    ASSERT_FALSE(change.refusal) << change.refusal->what;
    EXPECT_EQ(change.before, new_);
    EXPECT_EQ(change.after, old_);
    EXPECT_EQ(change.rules, 1U);
    expect_kept(old_);
    EXPECT_EQ(rules().view()->reverts, 0U) << "somebody asked for it";
    EXPECT_EQ(kind_of(rules().rollback(7)), Refusal::Kind::NothingBefore);
}

TEST_F(OnTrial, ARollbackOfTheTrialAloneTakesNoKeptSetAway) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kThree).refusal);
    const std::uint64_t kept = apply(kOne).after;
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    pass(61s);
    tick();  // the timer is quicker
    expect_all(kept);
    EXPECT_EQ(kind_of(rules().rollback(sluice::Rollback{.from = 7, .is_of_trial = true})),
              Refusal::Kind::NothingToConfirm);
    expect_all(kept);
    ASSERT_FALSE(try_out(kTwo, 60s).refusal);
    EXPECT_FALSE(rules().rollback(sluice::Rollback{.from = 7, .is_of_trial = true}).refusal);
    expect_all(kept);
}

TEST_F(OnTrial, TheFirstSetGoesBackToNoRules) {
    start_dataplane();
    start_daemon();
    const RuleChange change = try_out(kOne, 60s);
    ASSERT_FALSE(change.refusal);
    EXPECT_FALSE(on_disk());
    EXPECT_EQ(change.unconfirmed->goes_back_to, 0U);
    for (const bool killed : {false, true}) {
        ASSERT_FALSE(try_out(kOne, 60s).refusal);
        if (killed) {
            kill_daemon();
        }
        pass(61s);
        killed ? start_daemon() : tick();
        EXPECT_TRUE(dataplane().running().rules.rules.empty());
        EXPECT_EQ(in_view(), in_dataplane());
        EXPECT_TRUE(rules().view()->rules.empty());
    }
}

// A kill between the dataplane's answer and the rename: nobody was told that the trial began.
TEST_F(OnTrial, WhatTheDiskDoesNotKnowGoesAtTheNextStart) {
    begin();
    kill_daemon();
    std::filesystem::remove(trial_file());
    start_daemon();
    expect_kept(old_);
}

// A kill between the dataplane's keeping and ours.
TEST_F(OnTrial, AHalfConfirmedSetIsStillOnTrial) {
    begin();
    const ApplyRules trial = dataplane().running();
    kill_daemon();
    stop_dataplane();
    start_dataplane();
    dataplane().run(trial);
    pass(30s);
    start_daemon();
    EXPECT_TRUE(rules().view()->unconfirmed);
    pass(30s);
    tick();
    expect_kept(old_);
}

// A kill between putting the old set back and forgetting the trial.
TEST_F(OnTrial, ATrialThatIsOnlyOnTheDiskIsOver) {
    begin();
    const std::string trial = folder_.read("state/rules.unconfirmed.json");
    ASSERT_FALSE(rules().rollback(0).refusal);
    kill_daemon();
    folder_.write("state/rules.unconfirmed.json", trial);
    start_daemon();
    expect_kept(old_);
}

TEST_F(OnTrial, ADamagedOneIsKeptAsideAndTheOldSetLoaded) {
    for (const std::size_t size : {0U, 20U, 300U}) {
        begin();
        kill_daemon();
        const std::string whole = folder_.read("state/rules.unconfirmed.json");
        folder_.write("state/rules.unconfirmed.json", whole.substr(0, size));
        start_daemon();
        expect_kept(old_);
        std::filesystem::path aside;
        for (const auto& entry : std::filesystem::directory_iterator{folder_ / "state"}) {
            if (entry.path().string().starts_with(trial_file() + ".bad-")) {
                aside = entry.path();
            }
        }
        ASSERT_FALSE(aside.empty()) << size;
        EXPECT_EQ(std::filesystem::file_size(aside), size);
        EXPECT_EQ(rules().view()->put_aside, 1U);
        std::filesystem::remove(aside);
        stop_dataplane();
    }
}

TEST_F(OnTrial, ADamagedDeadlineIsNotBelieved) {
    begin();
    kill_daemon();
    std::string text = folder_.read("state/rules.unconfirmed.json");
    const std::size_t at = text.find("\"end_ns\": ");
    ASSERT_NE(at, std::string::npos) << text;
    text.insert(at + 10, "9");
    folder_.write("state/rules.unconfirmed.json", text);
    start_daemon();
    expect_kept(old_);
}

// Both are damaged: limits are not lifted for it.
TEST_F(OnTrial, StaysWhenTheOldSetIsLost) {
    begin();
    kill_daemon();
    folder_.write("state/rules.json", "{");
    start_daemon();
    expect_all(new_);
    EXPECT_FALSE(rules().view()->unconfirmed);
    pass(61s);
    tick();
    expect_all(new_);
}

using Rollback = OnTrial;

TEST_F(Rollback, GoesBackSetBySet) {
    start_dataplane();
    start_daemon();
    const std::uint64_t one = apply(kOne).after;
    const std::uint64_t two = apply(kTwo).after;
    const std::uint64_t three = apply(kThree).after;
    EXPECT_EQ(apply(kThree).after, three) << "the same again is no step";
    const RuleChange first = rules().rollback(9);
    ASSERT_FALSE(first.refusal) << first.refusal->what;
    EXPECT_EQ(first.before, three);
    EXPECT_EQ(first.after, two);
    expect_kept(two);
    EXPECT_EQ(on_disk()->changed_by, 9U);
    kill_daemon();
    start_daemon();
    EXPECT_EQ(rules().rollback(9).after, one);
    expect_kept(one);
    EXPECT_EQ(kind_of(rules().rollback(9)), Refusal::Kind::NothingBefore);
    expect_kept(one);
}

TEST_F(Rollback, AConfirmedTrialCanBeUndone) {
    begin();
    ASSERT_FALSE(rules().confirm().refusal);
    EXPECT_EQ(rules().rollback(0).after, old_);
    expect_kept(old_);
}

TEST_F(Rollback, BringsTheModesThatASetEndedWith) {
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kOne).refusal);
    const std::uint64_t with_mode = rules().set_mode("a", Mode::Monitor, 0).after;
    ASSERT_FALSE(apply(kTwo).refusal);
    EXPECT_EQ(rules().rollback(0).after, with_mode);
    EXPECT_EQ(on_disk()->modes, (ModeOverrides{{"a", Mode::Monitor}}));
}

TEST_F(Rollback, WhatIsRefusedStaysInTheHistory) {
    start_dataplane();
    start_daemon();
    const std::uint64_t one = apply(kOne).after;
    const std::uint64_t two = apply(kTwo).after;
    dataplane().refuse("no room");
    EXPECT_EQ(kind_of(rules().rollback(0)), Refusal::Kind::ByDataplane);
    expect_kept(two);
    dataplane().refuse("");
    EXPECT_EQ(rules().rollback(0).after, one);
}

// A kill between remembering a set and replacing it: it is in both places.
TEST_F(Rollback, AHalfReplacedSetIsNoStep) {
    start_dataplane();
    start_daemon();
    const std::uint64_t one = apply(kOne).after;
    ASSERT_FALSE(apply(kTwo).refusal);
    ASSERT_TRUE(Store{folder_ / "state"}.remember());
    EXPECT_EQ(rules().rollback(0).after, one);
    EXPECT_EQ(kind_of(rules().rollback(0)), Refusal::Kind::NothingBefore);
}

}  // namespace
}  // namespace sluice::rule_trial_test
