#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>

// The penalty box: keys that are refused again and again.
namespace sluice::ban_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};

std::string rules(const std::string& more,
                  const std::string& limits = "{algorithm: token_bucket, rate: 1/s, burst: 5}",
                  const std::string& mode = "enforce") {
    return "version: 1\nrules:\n  - id: r\n    mode: " + mode +
           "\n    key: [ip.src]\n    limits: [" + limits + "]\n    " + more + "\n";
}
const std::string kBan = "ban: {after: 3, within: 10s, for: 1m}";

Decision send(Box& box, const std::string& source, Instant now) {
    return box.judge(udp().src(source).bytes(), now);
}
void send(Box& box, const std::string& source, Instant now, int count) {
    for (int i = 0; i < count; ++i) {
        (void)send(box, source, now);
    }
}
std::uint64_t left(Box& box, const std::string& source, Instant now) {
    KeyQuestion question{.load = box.set().load, .bytes = box.read_key(source)->bytes};
    return box.ask(question, now).buckets[0].remaining.count();
}
KeyBox box_of(Box& box, const std::string& source, Instant now,
              KeyAction action = KeyAction::Show) {
    KeyQuestion question{
        .action = action, .load = box.set().load, .bytes = box.read_key(source)->bytes};
    return box.ask(question, now).box;
}

// The box is looked up for every packet of the key, the limit for those alone that it counts.
TEST(Ban, ARuleThatCountsNothingOfAPacketHasNotJudgedIt) {
    const std::string watch =
        "  - {id: w, mode: monitor, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/d, "
        "burst: 1}]}\n";
    for (const bool tell_wait : {false, true}) {
        Box box{rules("per: connection\n    " + kBan) + watch,
                PacketPolicy{.tell_wait = tell_wait}};
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(send(box, "10.0.0.1", kStart).reason, Reason::Unmatched) << i;
        }
    }
}

TEST(Ban, FromTheRefusalThatIsOneTooManyUntilItsEnd) {
    Box box{rules(kBan)};
    send(box, "10.0.0.1", kStart, 7);  // five pass, two are refused
    const Decision last = send(box, "10.0.0.1", kStart + 100ms);
    EXPECT_EQ(last.verdict, Verdict::Drop);
    EXPECT_EQ(last.reason, Reason::OverLimit);
    EXPECT_EQ(last.wait, 900ms);
    // The limit would have room again: the ban counts, and tells how long it lasts.
    const Decision banned = send(box, "10.0.0.1", kStart + 5s);
    EXPECT_EQ(banned.verdict, Verdict::Drop);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(banned.wait, 55s + 100ms);
    EXPECT_EQ(box.rule_name(banned), "r");
    // It spends nothing, and lasts no longer for it.
    EXPECT_EQ(left(box, "10.0.0.1", kStart + 5s), 5U);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 60s + 99ms).reason, Reason::Banned);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 60s + 100ms).reason, Reason::WithinLimits);
    EXPECT_EQ(send(box, "10.0.0.2", kStart + 5s).reason, Reason::WithinLimits);
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].banned.read(), 2U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 5U);
}

// Also when the box is so new that it was not there when the packets were located.
TEST(Ban, HoldsForTheNextPacketOfTheSameBurst) {
    Box box{rules("ban: {after: 1, within: 10s, for: 1m}",
                  "{algorithm: token_bucket, per: byte, rate: 1B/s, burst: 300B}")};
    const auto frame = [](std::uint16_t payload) {
        return udp().src("10.0.0.1").payload(payload).bytes();
    };
    const std::vector<Decision> got =
        box.judge_burst({frame(100), frame(400), frame(10), frame(10)}, kStart);
    EXPECT_EQ(got[0].reason, Reason::WithinLimits);
    EXPECT_EQ(got[1].reason, Reason::OverLimit);
    EXPECT_EQ(got[2].reason, Reason::Banned);
    EXPECT_EQ(got[3].reason, Reason::Banned);
}

TEST(Ban, RefusalsThatAreTooFarApartBanNobody) {
    Box box{rules(kBan, "{algorithm: token_bucket, rate: 1/h, burst: 1}")};
    for (Instant now = kStart; now < kStart + 1min; now += 5s) {
        EXPECT_NE(send(box, "10.0.0.1", now).reason, Reason::Banned);
    }
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
}

TEST(Ban, ItsActionIsWhatEachPacketMeets) {
    Box box{
        rules("ban: {after: 1, within: 10s, for: 1m, action: tag, dscp: cs1}\n"
              "    on_exceed: {action: drop}")};
    send(box, "10.0.0.1", kStart, 6);
    const Decision tagged = send(box, "10.0.0.1", kStart);
    EXPECT_EQ(tagged.verdict, Verdict::Tag);
    EXPECT_EQ(tagged.reason, Reason::Banned);
    EXPECT_EQ(box.set().actions.at(tagged.action).tag.dscp, 8);
    EXPECT_EQ(tagged.wait, 0ns);
}

// Refusals that a tag lets through are refusals too.
TEST(Ban, AStricterActionThanTheLimits) {
    Box box{rules("on_exceed: {action: tag, dscp: 10}\n    " + kBan)};
    send(box, "10.0.0.1", kStart, 7);
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Tag);
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Drop);
}

TEST(Ban, AMonitoringRuleCountsBansAndStopsNobody) {
    Box box{rules(kBan, "{algorithm: token_bucket, rate: 1/s, burst: 5}", "monitor")};
    send(box, "10.0.0.1", kStart, 20);
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].banned.read(), 13U);
    EXPECT_EQ(left(box, "10.0.0.1", kStart + 10s), 5U);
}

TEST(Ban, OneTierIsEnough) {
    Box box{"version: 1\nrules:\n  - id: r\n    mode: enforce\n    " + kBan +
            "\n    tiers:\n"
            "      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 100}]}\n"
            "      - {key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]}\n"};
    const auto to = [&](const std::string& source, const std::string& target) {
        return box.judge(udp().src(source).dst(target).bytes(), kStart);
    };
    for (int i = 0; i < 8; ++i) {
        (void)to("10.0.0.1", "10.1.0.1");
    }
    const Decision banned = to("10.0.0.2", "10.1.0.1");
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(banned.key, 1);
    // Who sent them is not.
    EXPECT_EQ(to("10.0.0.1", "10.1.0.2").reason, Reason::WithinLimits);
}

// Two limits that refuse one packet are one refusal.
TEST(Ban, APacketIsRefusedOnce) {
    Box box{rules(kBan,
                  "{algorithm: token_bucket, rate: 1/s, burst: 5}, "
                  "{algorithm: sliding_log, count: 5, window: 1m}")};
    send(box, "10.0.0.1", kStart, 7);
    EXPECT_EQ(box_of(box, "10.0.0.1", kStart).refusals.count(), 2U);
}

TEST(Ban, ColoursRefuseByWhatTheyMean) {
    const std::string meter = "{algorithm: srtcm, cir: 1/h, cbs: 2, ebs: 2}";
    Box box{rules(kBan, meter)};
    send(box, "10.0.0.1", kStart, 4);  // two green, two yellow
    EXPECT_EQ(box_of(box, "10.0.0.1", kStart).refusals.count(), 0U);
    Box strict{rules("on_color: {yellow: {action: drop}}\n    " + kBan, meter)};
    send(strict, "10.0.0.1", kStart, 4);
    EXPECT_EQ(box_of(strict, "10.0.0.1", kStart).refusals.count(), 2U);
}

TEST(Ban, ReloadsKeepIt) {
    Box box{rules(kBan)};
    send(box, "10.0.0.1", kStart, 8);
    send(box, "10.0.0.2", kStart, 7);
    ASSERT_TRUE(box.reload(rules("ban: {after: 2, within: 20s, for: 2m, action: pass}")));
    // Two refusals of three are one of two: the next one bans.
    EXPECT_EQ(box_of(box, "10.0.0.2", kStart + 1ms).refusals.count(), 1U);
    const Decision banned = send(box, "10.0.0.1", kStart + 59s);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(banned.verdict, Verdict::Pass);
    EXPECT_NE(send(box, "10.0.0.1", kStart + 60s).reason, Reason::Banned);
    // Without a ban nobody is banned; with one again, it goes on to where it would have ended.
    ASSERT_TRUE(box.reload(rules(kBan)));
    send(box, "10.0.0.3", kStart + 60s, 8);
    ASSERT_TRUE(box.reload(rules("")));
    EXPECT_EQ(send(box, "10.0.0.3", kStart + 70s).reason, Reason::WithinLimits);
    ASSERT_TRUE(box.reload(rules(kBan)));
    EXPECT_EQ(send(box, "10.0.0.3", kStart + 80s).reason, Reason::Banned);
}

TEST(Ban, WhatOperatorsSayGoesFirst) {
    using What = KeySetting::What;
    const auto setting = [](const std::string& key, What what) {
        return KeySetting{.rule = "r", .key = key, .tier = 1, .what = what};
    };
    Box box{rules("ban: {after: 3, within: 10s, for: 1m, action: tag, dscp: 8}")};
    send(box, "10.0.0.1", kStart, 8);
    ASSERT_TRUE(box.reload(rules("ban: {after: 3, within: 10s, for: 1m, action: tag, dscp: 8}"),
                           {setting("10.0.0.1", What::Exempt), setting("10.0.0.2", What::Banned)}));
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Pass);
    const Decision banned = send(box, "10.0.0.2", kStart);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(banned.verdict, Verdict::Tag);
    EXPECT_EQ(box.set().actions.at(banned.action).tag.dscp, 8);
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
}

TEST(Ban, IsShownAndLifted) {
    Box box{rules(kBan)};
    EXPECT_EQ(box_of(box, "10.0.0.1", kStart).after.count(), 3U);
    send(box, "10.0.0.1", kStart, 7);
    EXPECT_EQ(box_of(box, "10.0.0.1", kStart + 1s).refusals.count(), 2U);
    send(box, "10.0.0.1", kStart);
    const KeyBox banned = box_of(box, "10.0.0.1", kStart + 1s);
    EXPECT_EQ(banned.left, 59s);
    EXPECT_FALSE(banned.lifted);
    const KeyBox lifted = box_of(box, "10.0.0.1", kStart + 2s, KeyAction::Unban);
    EXPECT_TRUE(lifted.lifted);
    EXPECT_EQ(lifted.left, 58s);
    // Its debt is another matter.
    EXPECT_EQ(left(box, "10.0.0.1", kStart + 2s), 2U);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 2s).reason, Reason::WithinLimits);
    EXPECT_FALSE(box_of(box, "10.0.0.1", kStart + 2s, KeyAction::Unban).lifted);
    send(box, "10.0.0.1", kStart + 2s, 8);
    EXPECT_TRUE(box_of(box, "10.0.0.1", kStart + 3s, KeyAction::Reset).lifted);
    EXPECT_EQ(left(box, "10.0.0.1", kStart + 3s), 5U);
}

// Each key by a list of its refusals, beside the pipeline.
TEST(Ban, AgreesWithAModelOverManyKeys) {
    constexpr std::uint64_t kAfter = 4;
    constexpr Nanoseconds kWithin = 3s;
    constexpr Nanoseconds kLasts = 7s;
    struct Model {
        std::deque<Instant> admitted;  // a log of three in two seconds
        std::deque<Instant> refused;
        Instant banned_until{};
    };
    Box box{rules("ban: {after: 4, within: 3s, for: 7s}",
                  "{algorithm: sliding_log, count: 3, window: 2s}")};
    std::map<std::string, Model> models;
    std::mt19937_64 dice{3};
    Instant now = kStart;
    std::map<Reason, int> seen;
    for (int i = 0; i < 20'000; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(dice() % 60'000'000)};
        const std::string source = "10.0.0." + std::to_string(1 + dice() % 20);
        Model& model = models[source];
        const auto drop_old = [&](std::deque<Instant>& list, Nanoseconds age) {
            while (!list.empty() && list.front() + age <= now) {
                list.pop_front();
            }
        };
        drop_old(model.admitted, 2s);
        drop_old(model.refused, kWithin);
        Reason expected = Reason::WithinLimits;
        if (now < model.banned_until) {
            expected = Reason::Banned;
        } else if (model.admitted.size() < 3) {
            model.admitted.push_back(now);
        } else {
            expected = Reason::OverLimit;
            model.refused.push_back(now);
            if (model.refused.size() >= kAfter) {
                model.refused.clear();
                model.banned_until = now + kLasts;
            }
        }
        const Decision decision = send(box, source, now);
        ASSERT_EQ(decision.reason, expected) << i << " " << source;
        if (expected == Reason::Banned) {
            ASSERT_EQ(decision.wait, model.banned_until - now);
        }
        ++seen[expected];
    }
    EXPECT_GT(seen[Reason::Banned], 1000);
    EXPECT_GT(seen[Reason::OverLimit], 1000);
    EXPECT_GT(seen[Reason::WithinLimits], 1000);
}

// A table of a few lines, filled by others: a ban is a debt like any other.
TEST(Ban, AFullTableForgetsNone) {
    Box box{rules(kBan + "\n    on_full: closed", "{algorithm: token_bucket, rate: 1/h, burst: 5}"),
            {},
            64};
    send(box, "10.0.0.1", kStart, 8);
    for (int i = 0; i < 2000; ++i) {
        (void)send(box, "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250),
                   kStart + 1s);
    }
    EXPECT_GT(box.counted(TableEvent::TableFull), 1000U);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 59s).reason, Reason::Banned);
    // Whose refusals find no place is refused as before, and counted.
    const std::uint64_t closed = box.counted(TableEvent::Closed);
    send(box, "10.1.0.1", kStart + 2s, 20);
    EXPECT_EQ(send(box, "10.1.0.1", kStart + 2s).reason, Reason::OverLimit);
    EXPECT_GE(box.counted(TableEvent::Closed), closed + 10);
}

// Who has no place is judged as its network, and banned as that.
TEST(Ban, ANetworkIsBannedForThoseWithoutAPlace) {
    Box box{rules("ban: {after: 3, within: 10s, for: 1m}\n    on_full: {coarsen: {factor: 2}}",
                  "{algorithm: token_bucket, rate: 1/h, burst: 2}"),
            {},
            64};
    for (int i = 0; i < 500; ++i) {
        (void)send(box, "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250), kStart);
    }
    // None of this network has a place: four pass, six refusals are its ban.
    for (int i = 1; i <= 10; ++i) {
        const Decision decision = send(box, "10.9.9." + std::to_string(i), kStart + 1s);
        EXPECT_EQ(decision.reason, i <= 4 ? Reason::WithinLimits : Reason::OverLimit) << i;
    }
    const Decision banned = send(box, "10.9.9.99", kStart + 1s);
    EXPECT_EQ(banned.reason, Reason::Banned);
    EXPECT_EQ(banned.wait, 60s);
    EXPECT_EQ(box_of(box, "10.9.9.98", kStart + 1s).aggregation_level, 1);
    // Another network is not.
    EXPECT_NE(send(box, "10.9.8.1", kStart + 1s).reason, Reason::Banned);
    // A reset of one of its keys leaves it, an unban does not.
    const KeyQuestion reset{.action = KeyAction::Reset,
                            .load = box.set().load,
                            .bytes = box.read_key("10.9.9.98")->bytes,
                            .limits = 0};
    EXPECT_FALSE(box.ask(reset, kStart + 1s).box.lifted);
    EXPECT_EQ(send(box, "10.9.9.99", kStart + 1s).reason, Reason::Banned);
    EXPECT_TRUE(box_of(box, "10.9.9.98", kStart + 2s, KeyAction::Unban).lifted);
    EXPECT_EQ(send(box, "10.9.9.99", kStart + 2s).reason, Reason::OverLimit);
}

// A key with a penalty box of its own and no bucket is not in its network's box until its own is
// gone: an unban ends both.
TEST(Ban, AnUnbanEndsTheNetworksBanThatTheKeysOwnBoxHid) {
    Box box{rules("ban: {after: 3, within: 10s, for: 1m}\n    on_full: {coarsen: {factor: 2}}",
                  "{algorithm: token_bucket, rate: 1/s, burst: 2}"),
            {},
            64};
    const std::string key = "10.9.9.98";
    for (int i = 0; i < 3; ++i) {
        (void)send(box, key, kStart);  // the third is refused, and noted for 10 s
    }
    const Instant later = kStart + 3s;  // the key's bucket is idle
    for (int i = 0; i < 500; ++i) {
        const std::string other = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        (void)send(box, other, later);
        (void)send(box, other, later);
    }
    for (int i = 1; i <= 10; ++i) {
        (void)send(box, "10.9.9." + std::to_string(i), later);
    }
    ASSERT_EQ(send(box, "10.9.9.99", later).reason, Reason::Banned);
    ASSERT_EQ(box_of(box, key, later).refusals, Units{1});
    ASSERT_EQ(send(box, key, later).reason, Reason::OverLimit);
    (void)box_of(box, key, later, KeyAction::Unban);
    EXPECT_EQ(send(box, key, later).reason, Reason::OverLimit);
    EXPECT_EQ(send(box, "10.9.9.99", later).reason, Reason::OverLimit);
}

}  // namespace
}  // namespace sluice::ban_test
