#include "control/daemon/notify/notice_gate.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::notice_gate_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = NoticeGate::Clock;

constexpr Clock::time_point kStart{std::chrono::hours{1}};
constexpr std::int64_t kSecond = 1'000'000'000;

RuleSummary rule(const std::string& id, std::initializer_list<NotifyEvent> on,
                 const std::string& to = "ops") {
    RuleSummary summary;
    summary.id = id;
    summary.mode = Mode::Enforce;
    summary.notify = NotifyTerms{.to = to};
    for (const NotifyEvent event : on) {
        summary.notify->on[static_cast<std::size_t>(event)] = true;
    }
    return summary;
}

NoticeGate gate_of(std::vector<RuleSummary> rules) {
    RuleView view;
    view.rules = std::move(rules);
    NoticeGate gate;
    gate.adopt(view);
    return gate;
}

KeyEvent event(KeyEventKind kind, const std::string& rule, std::int64_t utc,
               const std::string& key = "192.0.2.1") {
    return {.kind = kind, .utc_ns = utc, .rule = rule, .limit = "1", .key = key};
}

TEST(NoticeGate, ManyBansAreOneNoticeAtOnceAndOneInEachWindow) {
    NoticeGate gate = gate_of({rule("login", {NotifyEvent::Ban})});
    gate.take(event(KeyEventKind::BanStart, "login", 1), kStart);
    std::vector<Notice> first = gate.collect(kStart);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].kind, NoticeKind::Ban);
    EXPECT_EQ(first[0].to, "ops");
    EXPECT_EQ(first[0].rule, "login");
    EXPECT_EQ(first[0].mode, Mode::Enforce);
    EXPECT_EQ(first[0].count, 1U);
    for (int i = 0; i < 100'000; ++i) {
        gate.take(event(KeyEventKind::BanStart, "login", 2 + i, std::to_string(i)), kStart);
        EXPECT_TRUE(i % 1000 != 0 || gate.collect(kStart + seconds{9}).empty());
    }
    gate.lose(7);
    const std::vector<Notice> second = gate.collect(kStart + NoticeGate::kWindow);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].count, 100'000U);
    EXPECT_EQ(second[0].missed, 7U);
    EXPECT_EQ(second[0].first, 2);
    EXPECT_EQ(second[0].last, 100'001);
    ASSERT_EQ(second[0].examples.size(), NoticeGate::kMostExamples);
    EXPECT_EQ(second[0].examples[9].key, "9");
    EXPECT_TRUE(gate.collect(kStart + NoticeGate::kWindow * 3).empty());
}

TEST(NoticeGate, WhatWasLostBeforeARuleAskedIsNotMissingToIt) {
    NoticeGate gate = gate_of({rule("old", {NotifyEvent::Ban})});
    gate.lose(1000);
    RuleView next;
    next.rules = {rule("old", {NotifyEvent::Ban, NotifyEvent::Limit}),
                  rule("young", {NotifyEvent::Ban, NotifyEvent::Limit})};
    gate.adopt(next);
    gate.lose(3);
    gate.adopt(next);
    for (const char* const id : {"old", "young"}) {
        gate.take(event(KeyEventKind::BanStart, id, 1), kStart);
        gate.take(event(KeyEventKind::LimitStart, id, 1), kStart);
    }
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 4U);
    EXPECT_EQ(due[0].missed, 1003U) << "bans of `old`, which asked for them all the time";
    for (std::size_t i = 1; i < due.size(); ++i) {
        EXPECT_EQ(due[i].missed, 3U) << i;
    }
}

TEST(NoticeGate, ExamplesAreBoundedByTheBytesOfTheirKeysToo) {
    NoticeGate gate = gate_of({rule("login", {NotifyEvent::Limit})});
    for (int i = 0; i < 10; ++i) {
        gate.take(event(KeyEventKind::LimitStart, "login", i,
                        std::string(NoticeGate::kMostExampleBytes / 2, 'x')),
                  kStart);
    }
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].count, 10U);
    EXPECT_EQ(due[0].examples.size(), 2U);
}

TEST(NoticeGate, OnlyTheRulesAndKindsThatAskForItAreTold) {
    NoticeGate gate = gate_of({rule("a", {NotifyEvent::Limit}), rule("b", {NotifyEvent::Ban})});
    gate.take(event(KeyEventKind::BanStart, "a", 1), kStart);
    gate.take(event(KeyEventKind::LimitStart, "b", 1), kStart);
    gate.take(event(KeyEventKind::LimitStart, "c", 1), kStart);
    gate.take(event(KeyEventKind::LimitEnd, "a", 1), kStart);
    gate.take(event(KeyEventKind::BanEnd, "b", 1), kStart);
    EXPECT_TRUE(gate.collect(kStart).empty());
    RuleSummary off = rule("a", {NotifyEvent::Limit});
    off.mode = Mode::Off;
    EXPECT_TRUE(gate_of({off}).empty());
    EXPECT_TRUE(gate_of({RuleSummary{}}).empty());
}

TEST(NoticeGate, AnAttackIsOverOnceNothingWasRefusedForAWhile) {
    NoticeGate gate = gate_of({rule("login", {NotifyEvent::Over})});
    gate.count_refused("login", 5, kStart, 0);
    EXPECT_TRUE(gate.collect(kStart + seconds{100}).empty()) << "nothing had begun";
    gate.take(event(KeyEventKind::LimitStart, "login", 3 * kSecond), kStart);
    gate.take(event(KeyEventKind::LimitStart, "login", 4 * kSecond, "192.0.2.2"), kStart);
    gate.count_refused("login", 5, kStart, 4 * kSecond);
    Clock::time_point now = kStart;
    for (std::uint64_t refused = 6; refused < 20; ++refused) {
        now += NoticeGate::kQuiet - milliseconds{1};
        gate.count_refused("login", refused, now, static_cast<std::int64_t>(refused) * kSecond);
        EXPECT_TRUE(gate.collect(now).empty()) << "it still refuses";
    }
    gate.count_refused("login", 19, now + seconds{20}, 90 * kSecond);
    const std::vector<Notice> due = gate.collect(now + NoticeGate::kQuiet);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].kind, NoticeKind::Over);
    EXPECT_EQ(due[0].count, 2U);
    EXPECT_EQ(due[0].first, 3 * kSecond);
    EXPECT_EQ(due[0].last, 19 * kSecond);
    EXPECT_TRUE(gate.collect(now + std::chrono::hours{1}).empty()) << "it is told once";
}

TEST(NoticeGate, WhatCameBeforeARuleWasKnownIsToldOfThatRuleAlone) {
    NoticeGate gate = gate_of({rule("old", {NotifyEvent::Ban})});
    RuleView next;
    next.rules = {rule("old", {NotifyEvent::Ban, NotifyEvent::Limit, NotifyEvent::Over}),
                  rule("young", {NotifyEvent::Limit})};
    EXPECT_TRUE(gate.adopt(next));
    for (const char* const id : {"old", "young"}) {
        gate.take_again(event(KeyEventKind::BanStart, id, 1), kStart);
        gate.take_again(event(KeyEventKind::LimitStart, id, 2), kStart);
    }
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 2U) << "its bans were told when they came";
    EXPECT_EQ(due[0].rule, "old");
    EXPECT_EQ(due[0].kind, NoticeKind::Limit);
    EXPECT_EQ(due[1].rule, "young");
    EXPECT_EQ(due[1].kind, NoticeKind::Limit);
    EXPECT_TRUE(gate.has_attack());
    const std::vector<Notice> over = gate.collect(kStart + NoticeGate::kQuiet);
    ASSERT_EQ(over.size(), 1U);
    EXPECT_EQ(over[0].rule, "old");
    EXPECT_EQ(over[0].count, 2U);
    EXPECT_FALSE(gate.has_attack());
    EXPECT_FALSE(gate.adopt(next)) << "nothing is new";
    gate.take_again(event(KeyEventKind::LimitStart, "young", 3), kStart + seconds{60});
    EXPECT_TRUE(gate.collect(kStart + seconds{60}).empty());
}

TEST(NoticeGate, WhatWasNotTakenAgainIsNewStill) {
    NoticeGate gate = gate_of({rule("old", {NotifyEvent::Ban})});
    RuleView next;
    next.rules = {rule("old", {NotifyEvent::Ban}), rule("young", {NotifyEvent::Limit})};
    EXPECT_TRUE(gate.adopt(next));
    EXPECT_TRUE(gate.adopt(next, true)) << "the dataplane did not answer";
    gate.take_again(event(KeyEventKind::BanStart, "old", 1), kStart);
    gate.take_again(event(KeyEventKind::LimitStart, "young", 2), kStart);
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 1U) << "the ban was told when it came";
    EXPECT_EQ(due[0].rule, "young");
    EXPECT_FALSE(gate.adopt(next)) << "it is owed no more";
    RuleView without;
    without.rules = {rule("old", {NotifyEvent::Ban}), rule("young", {NotifyEvent::Over})};
    EXPECT_TRUE(gate.adopt(without));
    without.rules.pop_back();
    EXPECT_FALSE(gate.adopt(without, true)) << "who asked has gone";
}

TEST(NoticeGate, AnAttackLastsUntilItsLastRefusal) {
    NoticeGate gate = gate_of({rule("login", {NotifyEvent::Over})});
    gate.count_refused("login", 5, kStart, 0);
    gate.take(event(KeyEventKind::LimitStart, "login", 3 * kSecond), kStart);
    gate.count_refused("login", 45, kStart, 4 * kSecond);
    gate.count_refused("login", 45, kStart + seconds{1}, 5 * kSecond);
    const std::vector<Notice> burst = gate.collect(kStart + NoticeGate::kQuiet);
    ASSERT_EQ(burst.size(), 1U);
    EXPECT_EQ(burst[0].first, 3 * kSecond);
    EXPECT_EQ(burst[0].last, 3 * kSecond) << "the first reading says when no refusal came";
    gate.take(event(KeyEventKind::LimitStart, "login", 90 * kSecond), kStart + seconds{60});
    gate.count_refused("login", 46, kStart + seconds{60}, 90 * kSecond);
    gate.count_refused("login", 47, kStart + seconds{61}, 91 * kSecond);
    gate.take(event(KeyEventKind::LimitStart, "login", 90 * kSecond), kStart + seconds{61});
    const std::vector<Notice> longer = gate.collect(kStart + seconds{61} + NoticeGate::kQuiet);
    ASSERT_EQ(longer.size(), 1U);
    EXPECT_EQ(longer[0].first, 90 * kSecond);
    EXPECT_EQ(longer[0].last, 91 * kSecond);
}

TEST(NoticeGate, DropsBeforeAnyRuleAreRefusalsOfTheRuleThatBannedTheirSource) {
    RuleCounts counts;
    counts.admitted = 1;
    counts.admitted_bytes = 2;
    counts.exceeded = 30;
    counts.exceeded_bytes = 4;
    counts.skipped = 5;
    counts.exempted = 6;
    counts.bans = 7;
    counts.banned = 8;  // of the exceeded
    counts.banned_sources = 900;
    counts.early_dropped = 10'000;
    EXPECT_EQ(refused_by(counts), 10'930U);
}

TEST(NoticeGate, OtherRulesGoOnWithWhatWasCounted) {
    NoticeGate gate = gate_of({rule("login", {NotifyEvent::Limit}), rule("gone", {})});
    gate.take(event(KeyEventKind::LimitStart, "login", 1), kStart);
    EXPECT_EQ(gate.collect(kStart).size(), 1U);
    gate.take(event(KeyEventKind::LimitStart, "login", 2), kStart);
    RuleView next;
    next.rules = {rule("login", {NotifyEvent::Limit}, "other")};
    gate.adopt(next);
    EXPECT_TRUE(gate.collect(kStart + seconds{1}).empty()) << "its window is not over";
    const std::vector<Notice> due = gate.collect(kStart + NoticeGate::kWindow);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].to, "other");
}

TEST(NoticeGate, StateThatDoesNotSurviveIsToldOncePerWebhook) {
    NoticeGate gate =
        gate_of({rule("a", {NotifyEvent::State}), rule("b", {NotifyEvent::State}),
                 rule("c", {NotifyEvent::State}, "other"), rule("d", {NotifyEvent::Ban}, "third")});
    gate.note_state(true, 0);
    EXPECT_TRUE(gate.collect(kStart).empty());
    gate.note_state(false, 1);
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 2U);
    EXPECT_EQ(due[0].kind, NoticeKind::State);
    EXPECT_EQ(due[0].to, "ops");
    EXPECT_EQ(due[1].to, "other");
    EXPECT_FALSE(due[0].survives);
    EXPECT_EQ(due[0].not_kept, 1U);
    gate.note_state(false, 1);
    EXPECT_TRUE(gate.collect(kStart + std::chrono::hours{1}).empty());
    // A dataplane that starts anew has it again, and loses it again.
    gate.note_state(true, 0);
    gate.note_state(false, 0);
    EXPECT_EQ(gate.collect(kStart + std::chrono::hours{2}).size(), 2U);
}

TEST(NoticeGate, NewsOfTheClusterGoToThoseWhoAskForTheState) {
    NoticeGate gate = gate_of({rule("a", {NotifyEvent::State}), rule("b", {NotifyEvent::State}),
                               rule("c", {NotifyEvent::Ban}, "other")});
    gate.note_cluster({.kind = ClusterEventKind::RolloutStaged}, 0);
    EXPECT_TRUE(gate.collect_cluster(kStart).empty()) << "nothing has become of it yet";
    gate.note_cluster({.kind = ClusterEventKind::StoreDown, .utc_ns = 5, .why = "no answer"}, 2);
    const std::vector<Notice> due = gate.collect_cluster(kStart);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].kind, NoticeKind::Cluster);
    EXPECT_EQ(due[0].to, "ops");
    EXPECT_EQ(due[0].missed, 2U);
    ASSERT_EQ(due[0].news.size(), 1U);
    for (int i = 0; i < 20; ++i) {
        gate.note_cluster({.kind = ClusterEventKind::MemberLeft, .node = "b"}, 0);
    }
    EXPECT_TRUE(gate.collect_cluster(kStart + seconds{9}).empty());
    const std::vector<Notice> later = gate.collect_cluster(kStart + NoticeGate::kWindow);
    ASSERT_EQ(later.size(), 1U);
    EXPECT_EQ(later[0].count, 20U);
    EXPECT_EQ(later[0].news.size(), NoticeGate::kMostExamples);
    EXPECT_TRUE(gate.collect_cluster(kStart + std::chrono::hours{1}).empty());
}

TEST(NoticeGate, WhatWasNotKeptIsToldAtMostOnceAMinute) {
    NoticeGate gate = gate_of({rule("a", {NotifyEvent::State})});
    gate.note_state(true, 1);
    EXPECT_TRUE(gate.collect(kStart).empty()) << "it was lost before sluiced was started";
    gate.note_state(true, 2);
    const std::vector<Notice> due = gate.collect(kStart);
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].not_kept, 2U);
    gate.note_state(true, 2);
    EXPECT_TRUE(gate.collect(kStart + std::chrono::hours{1}).empty());
    Clock::time_point now = kStart + std::chrono::hours{2};
    std::size_t told = 0;
    for (std::uint64_t times = 3; times < 63; ++times) {
        gate.note_state(true, times);
        told += gate.collect(now).size();
        now += seconds{5};
    }
    EXPECT_EQ(told, 5U);
}

TEST(NoticeGate, ALossThatTheStateOutlivedIsNotToldToWhoAsksLater) {
    NoticeGate gate = gate_of({rule("a", {NotifyEvent::Ban})});
    gate.note_state(true, 0);
    gate.note_state(true, 1);
    EXPECT_TRUE(gate.collect(kStart).empty()) << "nobody asks";
    RuleView asks;
    asks.rules = {rule("a", {NotifyEvent::State})};
    gate.adopt(asks);
    gate.note_state(true, 1);
    EXPECT_TRUE(gate.collect(kStart + seconds{1}).empty());
    // Without any rule the count is not read.
    gate.adopt(RuleView{});
    gate.adopt(asks);
    gate.note_state(true, 5);
    EXPECT_TRUE(gate.collect(kStart + seconds{2}).empty());
    gate.note_state(true, 6);
    EXPECT_EQ(gate.collect(kStart + seconds{3}).size(), 1U);
}

}  // namespace
}  // namespace sluice::notice_gate_test
