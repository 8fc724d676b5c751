#include "lib/bucket/table/previous_tables.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/seen.hpp"
#include "tests/packets/service_dialogue.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Bans that hold for all that a source sends: `ban: {applies_to: source}`.
namespace sluice::source_ban_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::client;
using test::Frame;
using test::icmpv6;
using test::kStart;
using test::syn;
using test::syn_ack;
using test::tcp;
using test::udp;
using test::Workers;

const std::string kSpoofable = "applies_to: source, spoofable: yes";
const std::string kProven = "applies_to: source";
const std::string kWeb =
    "services:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport eq 80', "
    "mode: enforce, checksums: trust}\n";

// A rule over port 53 that bans at its second refusal, and whatever is to stand beside it.
struct Set {
    std::string scope = kSpoofable;
    std::string when = "l4.dport eq 53";
    std::string key = "ip.src";
    std::string mode = "enforce";
    std::string before = "";  // parts of the file
    std::string others = "";  // rules behind it
    std::string more = "";    // of the rule
    std::string count = "1";

    [[nodiscard]] std::string text() const {
        return "version: 1\n" + before + "rules:\n  - {id: r, mode: " + mode + ", when: '" + when +
               "', key: ['" + key + "'], limits: [{algorithm: fixed_window, count: " + count +
               ", window: 1h}], ban: {after: 2, within: 10m, for: 1h, " + scope + "}" + more +
               "}\n" + others;
    }
};

std::string reason(Box& box, const Frame& frame, Instant now = kStart) {
    return std::string{row_of(box.judge(frame, now).reason).name};
}
// Three packets that the rule counts: the third is the second refusal.
Frame counted(const std::string& source = "10.0.0.1") {
    return udp().src(source).dport(53);
}
void ban(Box& box, const std::string& source = "10.0.0.1", Instant now = kStart) {
    EXPECT_EQ(reason(box, counted(source), now), "within_limits");
    EXPECT_EQ(reason(box, counted(source), now), "over_limit");
    EXPECT_EQ(reason(box, counted(source), now), "over_limit");
}
KeyBox box_of(Box& box, const std::string& source, KeyAction action, Instant now = kStart) {
    const KeyQuestion question{
        .action = action, .load = box.set().load, .bytes = box.read_key(source)->bytes};
    return box.ask(question, now).box;
}

TEST(SourceBan, HoldsForAllThatTheSourceSendsUntilItsEnd) {
    Box box{Set{.others = "  - {id: shut, mode: enforce, on_match: drop, when: 'l4.dport eq 7'}\n"
                          "  - {id: open, mode: enforce, on_match: allow, when: 'l4.dport eq 8'}\n"
                          "  - {id: all, mode: enforce, key: [ip.src], limits: [{algorithm: "
                          "token_bucket, rate: 1/s, burst: 100}]}\n"}
                .text()};
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "within_limits");
    ban(box);
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{53, 7, 8, 9}) {
        EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(port)), "banned_source") << port;
    }
    EXPECT_EQ(reason(box, tcp().src("10.0.0.1").dport(443)), "banned_source");
    const Decision banned = box.judge(udp().src("10.0.0.1").dport(9), kStart + 10min);
    EXPECT_EQ(banned.verdict, Verdict::Drop);
    EXPECT_EQ(box.rule_name(banned), "r");
    EXPECT_EQ(banned.wait, 50min);
    EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(7)), "deny_rule");
    EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(8)), "allow_rule");
    EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(9)), "within_limits");
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].banned.read(), 0U);
    EXPECT_EQ(box.counters().bans[0].banned_sources.read(), 6U);
    EXPECT_EQ(box.counters(3).admitted.read(), 3U) << "what is dropped spends nothing";
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9), kStart + 1h), "within_limits");
}

// Also packets that no rule matches, in one burst with the refusal that bans.
TEST(SourceBan, HoldsForTheNextPacketOfTheSameBurst) {
    for (const bool with_others : {false, true}) {
        Box box{Set{.others = with_others ? "  - {id: all, mode: enforce, key: [ip.src], limits: "
                                            "[{algorithm: token_bucket, rate: 1/s, burst: 9}]}\n"
                                          : ""}
                    .text()};
        const auto mine = counted().bytes();
        const auto other = udp().src("10.0.0.1").dport(9).bytes();
        const auto got = box.judge_burst({mine, mine, other, mine, other, mine}, kStart);
        const Reason before = with_others ? Reason::WithinLimits : Reason::Unmatched;
        EXPECT_EQ(got[0].reason, Reason::WithinLimits);
        EXPECT_EQ(got[1].reason, Reason::OverLimit);
        EXPECT_EQ(got[2].reason, before);
        EXPECT_EQ(got[3].reason, Reason::OverLimit);
        EXPECT_EQ(got[4].reason, Reason::BannedSource);
        EXPECT_EQ(got[5].reason, Reason::BannedSource);
    }
}

TEST(SourceBan, APrefixIsBannedWhole) {
    Box box{Set{.key = "prefix(ip.src, 24|64)"}.text()};
    ban(box, "2001:db8::1");
    EXPECT_EQ(reason(box, udp().src("2001:db8::ffff").dport(9)), "banned_source");
    EXPECT_EQ(reason(box, udp().src("2001:db8:0:1::1").dport(9)), "unmatched");
    ban(box, "10.0.0.1");
    EXPECT_EQ(reason(box, udp().src("10.0.0.200").dport(9)), "banned_source");
    EXPECT_EQ(reason(box, udp().src("10.0.1.1").dport(9)), "unmatched");
}

// Bans of several rules are looked up one after the other, by keys of their own.
TEST(SourceBan, TheFirstRuleThatBansIsTheOneNamed) {
    Box box{Set{.others = "  - {id: wide, mode: enforce, when: 'l4.dport eq 54', key: "
                          "['prefix(ip.src, 24|64)'], limits: [{algorithm: fixed_window, count: 1, "
                          "window: 1h}], ban: {after: 1, within: 1h, for: 2h, applies_to: source, "
                          "spoofable: yes}}\n"
                          "  - {id: same, mode: enforce, when: 'l4.dport eq 55', key: [ip.src], "
                          "limits: [{algorithm: fixed_window, count: 1, window: 1h}], ban: {after: "
                          "1, within: 1h, for: 2h, applies_to: source, spoofable: yes}}\n"}
                .text()};
    const auto named = [&box](const std::string& source) {
        return box.rule_name(box.judge(udp().src(source).dport(9), kStart));
    };
    for (int i = 0; i < 2; ++i) {
        (void)reason(box, udp().src("10.0.0.9").dport(55));
    }
    EXPECT_EQ(named("10.0.0.9"), "same");
    for (int i = 0; i < 2; ++i) {
        (void)reason(box, udp().src("10.0.0.2").dport(54));
    }
    EXPECT_EQ(named("10.0.0.9"), "wide");
    EXPECT_EQ(named("10.0.0.3"), "wide");
    EXPECT_EQ(named("10.0.1.3"), "");
    ban(box, "10.0.1.3");
    EXPECT_EQ(named("10.0.1.3"), "r");
}

TEST(SourceBan, WhatIsWithinABudgetPasses) {
    Box box{Set{.before = "bypass: [{when: 'l4.dport eq 179', key: [], limit: {algorithm: "
                          "fixed_window, count: 1, window: 1h}}]\n"}
                .text()};
    ban(box);
    EXPECT_EQ(reason(box, tcp().src("10.0.0.1").dport(179)), "bypass");
    EXPECT_EQ(reason(box, tcp().src("10.0.0.1").dport(179)), "banned_source");
}

TEST(SourceBan, AnExemptKeyIsNeverBanned) {
    const std::string exempt = ", overrides: {inline: [{key: [10.0.0.1], exempt: true}]}";
    Box box{Set{.more = exempt}.text()};
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(reason(box, counted()), "exempt");
    }
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    ban(box, "10.0.0.2");
    EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(9)), "banned_source");
    // Nor one that was banned before it was exempt.
    Box before{Set{}.text()};
    ban(before);
    ASSERT_TRUE(before.reload(Set{.more = exempt}.text()));
    EXPECT_EQ(reason(before, udp().src("10.0.0.1").dport(9)), "unmatched");
}

// Neighbours find each other whoever is banned; behind a router nobody takes part in that.
TEST(SourceBan, NeighbourDiscoveryPasses) {
    for (const std::string when : {"ip.version eq 6", "l4.dport eq 53"}) {
        Box box{Set{.when = when}.text()};
        ban(box, "2001:db8::1");
        for (std::uint8_t type = 133; type <= 137; ++type) {
            const std::string got = reason(box, icmpv6(type, 0).ttl(255));
            EXPECT_EQ(got, when == "l4.dport eq 53" ? "unmatched" : "over_limit") << int{type};
            EXPECT_EQ(reason(box, icmpv6(type, 0).ttl(64)), "banned_source") << int{type};
        }
        EXPECT_EQ(reason(box, icmpv6(128, 0).ttl(255)), "banned_source");
        EXPECT_EQ(reason(box, icmpv6(138, 0).ttl(255)), "banned_source");
    }
    Box box{Set{}.text()};
    ban(box);
    EXPECT_EQ(reason(box, test::arp()), "unmatched");
}

TEST(SourceBan, AnUnbanLiftsIt) {
    Box box{Set{}.text()};
    ban(box);
    EXPECT_TRUE(box_of(box, "10.0.0.1", KeyAction::Unban).lifted);
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    EXPECT_EQ(reason(box, counted()), "over_limit");
}

TEST(SourceBan, AnOperatorsBanHoldsForAllTrafficToo) {
    Box box{Set{}.text()};
    ASSERT_TRUE(box.reload(
        Set{}.text(),
        KeySettings{
            {.rule = "r", .key = "10.0.0.7", .tier = 1, .what = KeySetting::What::Banned}}));
    const Decision banned = box.judge(udp().src("10.0.0.7").dport(9), kStart);
    EXPECT_EQ(banned.reason, Reason::BannedSource);
    EXPECT_EQ(banned.wait, kNever);
    EXPECT_EQ(reason(box, udp().src("10.0.0.8").dport(9)), "unmatched");
    ASSERT_TRUE(box.reload(Set{}.text(), KeySettings{}));
    EXPECT_EQ(reason(box, udp().src("10.0.0.7").dport(9)), "unmatched");
}

// Bans in the tables when a process ends are there for the next one, which may have other tables.
TEST(SourceBan, ARestartKeepsIt) {
    const auto expect_banned = [](Box& box, const std::string& name) {
        EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9), kStart + 1min), "banned_source")
            << name;
        EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(9), kStart + 1min), "unmatched") << name;
        EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9), kStart + 1h), "unmatched") << name;
    };
    Box same{Set{}.text()};
    ban(same);
    Box after{Set{}.text(), std::move(same.buckets())};
    expect_banned(after, "the same tables");
    Box smaller{Set{}.text()};
    ban(smaller);
    std::vector<PreviousTables::Store> stores;
    stores.push_back({std::move(smaller.buckets()), 0});
    PreviousTables previous{std::move(stores), kStart + 2h};
    Box next{Set{}.text(), BucketStore{1'000, 1'000}};
    next.buckets().set_previous_tables(&previous, 0);
    next.idle(kStart);
    expect_banned(next, "others");
}

// A rule that is not active now has banned nobody, until it is again.
TEST(SourceBan, HoldsWhileItsRuleIsActive) {
    Box box{Set{.more = ", active: {hours: 00:00-12:00}"}.text()};
    const auto reason_at = [&box](const Frame& frame, Nanoseconds utc) {
        const std::vector<std::byte> bytes = frame.bytes();
        const FrameView view{bytes, static_cast<std::uint32_t>(bytes.size())};
        return box.judge(view, Now{kStart, utc - kStart.time_since_epoch()}).reason;
    };
    for (int i = 0; i < 3; ++i) {
        (void)reason_at(counted(), 1h);
    }
    const Frame other = udp().src("10.0.0.1").dport(9);
    EXPECT_EQ(reason_at(other, 11h), Reason::BannedSource);
    EXPECT_EQ(reason_at(other, 13h), Reason::Unmatched);
    EXPECT_EQ(reason_at(other, 25h), Reason::BannedSource);
}

TEST(SourceBan, AMonitoringRuleCountsBansAndStopsNobody) {
    Box box{Set{.mode = "monitor"}.text()};
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(reason(box, counted()), "unmatched");
    }
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
    EXPECT_EQ(box.counters().bans[0].banned.read(), 2U);
    EXPECT_EQ(box.counters().bans[0].banned_sources.read(), 0U);
}

// Whoever forges a source is refused and bans nobody: a refusal counts on a connection whose
// handshake has been completed.
TEST(SourceBan, ForgedSynsBanNobody) {
    const Set set{.scope = kProven, .when = "ip.dst eq 192.0.2.1", .before = kWeb};
    UnitParser parser{capture_unit_budget()};
    Box box{set.text()};
    box.find_units_by(parser.finder());
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        Frame forged =
            syn(i).src("10.0." + std::to_string(i % 4) + "." + std::to_string(i / 4 % 25));
        (void)box.judge(forged.sport(static_cast<std::uint16_t>(1024 + i % 60'000)), kStart);
    }
    EXPECT_GT(box.counters(0).exceeded.read(), 90'000U);
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    // So does whoever answers to nobody, however much of it comes.
    for (int i = 0; i < 100; ++i) {
        (void)box.judge(udp().src("10.0.0.1").dst("192.0.2.1").dport(9), kStart);
        (void)box.judge(client("GET /").sport(50'000), kStart);
    }
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
}

// On a living connection and on one that has ended: its SYNs and RSTs can be forged by whoever
// tries its ports, and what the server sends is not its client's doing.
TEST(SourceBan, ForgedSegmentsOfLivingConnectionsBanNobody) {
    const Set set{.scope = kProven, .when = "ip.proto eq 6", .before = kWeb, .count = "2"};
    UnitParser parser{capture_unit_budget()};
    Box box{set.text()};
    box.find_units_by(parser.finder());
    (void)box.judge(syn(), kStart);
    (void)box.judge(syn_ack(), kStart);
    (void)box.judge(client(""), kStart);
    for (std::uint32_t i = 0; i < 1000; ++i) {
        (void)box.judge(syn(i * 4'000'000U), kStart);
        (void)box.judge(client("").flags(test::kRst), kStart);
        (void)box.judge(test::server(""), kStart);
    }
    EXPECT_GT(box.counters(0).exceeded.read(), 2'000U);
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    EXPECT_EQ(reason(box, udp().src("192.0.2.1").dport(9)), "unmatched");
}

TEST(SourceBan, AProvenSenderIsBannedForAllThatItSends) {
    const Set set{.scope = kProven, .when = "ip.dst eq 192.0.2.1", .before = kWeb, .count = "2"};
    UnitParser parser{capture_unit_budget()};
    Box box{set.text()};
    box.find_units_by(parser.finder());
    EXPECT_EQ(reason(box, syn()), "within_limits");
    EXPECT_EQ(reason(box, syn_ack()), "unmatched");
    EXPECT_EQ(reason(box, client("")), "within_limits");
    EXPECT_EQ(reason(box, client("")), "over_limit");
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    EXPECT_EQ(reason(box, client("")), "over_limit");
    EXPECT_EQ(reason(box, client("")), "banned_source");
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "banned_source");
    EXPECT_EQ(reason(box, udp().src("10.0.0.2").dport(9)), "unmatched");
    EXPECT_EQ(box.counters().bans[0].bans.read(), 1U);
}

// Bans that forged packets made of a key would be of all that the source sends.
TEST(SourceBan, BansThatNothingProvesDoNotBecomeBansOfSources) {
    Box box{Set{.scope = "applies_to: key"}.text()};
    ban(box);
    EXPECT_EQ(reason(box, counted()), "banned");
    ASSERT_TRUE(box.reload(Set{.scope = kProven, .before = kWeb}.text()));
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
    // Whoever asks for forged refusals to count has their bans, too.
    Box forged{Set{.scope = "applies_to: key"}.text()};
    ban(forged);
    ASSERT_TRUE(forged.reload(Set{}.text()));
    EXPECT_EQ(reason(forged, udp().src("10.0.0.1").dport(9)), "banned_source");
}

// Of a long connection many numbers are old segments' and pass: whoever guesses one bans nobody.
TEST(SourceBan, OldSegmentsOfAConnectionBanNobody) {
    const Set set{.scope = kProven, .when = "ip.dst eq 192.0.2.1", .before = kWeb, .count = "4"};
    UnitParser parser{capture_unit_budget()};
    Box box{set.text()};
    box.find_units_by(parser.finder());
    (void)box.judge(syn(), kStart);
    (void)box.judge(syn_ack(), kStart);
    (void)box.judge(client(""), kStart);
    EXPECT_EQ(reason(box, client(test::kLogin)), "within_limits");
    (void)box.judge(test::server("", 0, test::kLoginSize), kStart);
    EXPECT_EQ(reason(box, client("", test::kLoginSize)), "within_limits");
    for (std::uint32_t at = 0; at < test::kLoginSize; ++at) {
        EXPECT_EQ(reason(box, client("", at)), "over_limit") << at;
    }
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
    EXPECT_EQ(reason(box, client("", test::kLoginSize)), "over_limit");
    EXPECT_EQ(reason(box, client(test::kLogin, test::kLoginSize)), "over_limit");
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "banned_source");
}

// Bytes that are sent ahead, anywhere in the server's window, move what the client has sent: what
// begins behind them proves nothing.
TEST(SourceBan, BytesAheadOfAConnectionBanNobody) {
    const Set set{.scope = kProven, .when = "ip.dst eq 192.0.2.1", .before = kWeb, .count = "3"};
    UnitParser parser{capture_unit_budget()};
    Box box{set.text()};
    box.find_units_by(parser.finder());
    (void)box.judge(syn(), kStart);
    (void)box.judge(syn_ack(), kStart);
    (void)box.judge(client(""), kStart);
    EXPECT_EQ(reason(box, client("x", 1000)), "within_limits");
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(reason(box, client("", 1001)), "over_limit") << i;
    }
    EXPECT_EQ(box.counters().bans[0].bans.read(), 0U);
    EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)), "unmatched");
}

// Whoever writes to the end of a tunnel is answered there, under whatever address inside.
TEST(SourceBan, InATunnelNobodyIsProven) {
    for (const std::string& scope : {kProven, kSpoofable}) {
        const Set set{.scope = scope, .when = "ip.dst eq 192.0.2.1", .before = kWeb, .count = "2"};
        UnitParser parser{capture_unit_budget()};
        Box box{set.text(), PacketPolicy{.tunnels = test::kAllTunnels}};
        box.find_units_by(parser.finder());
        const auto inside = [](const Frame& frame) {
            return udp()
                .src("203.0.113.66")
                .dst("198.51.100.1")
                .dport(4789)
                .carries(test::vxlan(frame.bytes()));
        };
        EXPECT_EQ(reason(box, inside(syn())), "within_limits");
        EXPECT_EQ(reason(box, inside(syn_ack())), "unmatched");
        EXPECT_EQ(reason(box, inside(client(""))), "within_limits");
        for (int i = 0; i < 4; ++i) {
            const std::string got = reason(box, inside(client("")));
            EXPECT_EQ(got, i < 2 || scope == kProven ? "over_limit" : "banned_source")
                << scope << i;
        }
        EXPECT_EQ(reason(box, udp().src("10.0.0.1").dport(9)),
                  scope == kProven ? "unmatched" : "banned_source");
    }
}

// The entry of one worker is what all of them look at, and so is its end.
TEST(SourceBan, AllWorkersDropWhatOneHasBanned) {
    Workers workers{Set{}.text(), 4};
    const auto mine = counted().bytes();
    const auto other = udp().src("10.0.0.1").dport(9).bytes();
    EXPECT_EQ(workers.judge(1, other, kStart).reason, Reason::Unmatched);
    for (int i = 0; i < 3; ++i) {
        (void)workers.judge(0, mine, kStart);
    }
    for (std::size_t at = 0; at < workers.size(); ++at) {
        EXPECT_EQ(workers.judge(at, other, kStart).reason, Reason::BannedSource) << at;
        EXPECT_EQ(workers.judge(at, other, kStart + 59min).reason, Reason::BannedSource) << at;
        EXPECT_EQ(workers.judge(at, other, kStart + 1h).reason, Reason::Unmatched) << at;
    }
}

}  // namespace
}  // namespace sluice::source_ban_test
