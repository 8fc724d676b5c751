#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

// What the rule language promises about verdicts and spending (rules, section 1), one row a packet.
namespace sluice::verdict_cases_test {
namespace {

using namespace std::chrono_literals;
using test::arp;
using test::Box;
using test::Case;
using test::Frame;
using test::tcp;
using test::udp;

using test::kStart;

// Every case shares this head; `limit` is ten packets a second, two at once.
#define RULES "version: 1\nrules:\n"
#define LIMIT "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]\n"

const Frame kDns = udp().src("10.0.0.1").dport(53).size(100);
const Frame kWeb = tcp().src("10.0.0.1").dport(80).size(100);

constexpr std::uint16_t kSynBit = 0x002;
const Frame kSyn = tcp().src("10.0.0.1").dport(80).flags(kSynBit);
const Frame kSynAck = tcp().src("10.0.0.1").dport(80).flags(0x012);

const Case kCases[] = {
    {"past the burst, then earned back",
     RULES "  - id: dns\n    mode: enforce\n    when: l4.dport eq 53\n    key: [ip.src]\n" LIMIT,
     {{0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "drop", "over_limit", "dns", 100ms},
      {99ms, kDns, "drop", "over_limit", "dns", 1ms},
      {100ms, kDns, "pass", "within_limits"},
      {100ms, kWeb, "pass", "unmatched"}}},

    {"sources do not share a bucket",
     RULES "  - id: dns\n    mode: enforce\n    key: [ip.src]\n" LIMIT,
     {{0ms, udp().src("10.0.0.1"), "pass", "within_limits"},
      {0ms, udp().src("10.0.0.1"), "pass", "within_limits"},
      {0ms, udp().src("10.0.0.2"), "pass", "within_limits"},
      {0ms, udp().src("10.0.0.1"), "drop", "over_limit", "dns", 100ms}}},

    {"a prefix shares one bucket",
     RULES "  - id: net\n    mode: enforce\n    key: [\"prefix(ip.src, 24|64)\"]\n" LIMIT,
     {{0ms, udp().src("10.0.0.1"), "pass", "within_limits"},
      {0ms, udp().src("10.0.0.2"), "pass", "within_limits"},
      {0ms, udp().src("10.0.0.3"), "drop", "over_limit", "net", 100ms},
      {0ms, udp().src("10.0.1.3"), "pass", "within_limits"}}},

    {"an empty key is one bucket for the rule",
     RULES "  - id: all\n    mode: enforce\n    key: []\n" LIMIT,
     {{0ms, udp().src("10.0.0.1"), "pass", "within_limits"},
      {0ms, arp(), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.3"), "drop", "over_limit", "all", 100ms}}},

    {"monitor counts and never acts",
     RULES "  - id: watch\n    key: [ip.src]\n" LIMIT,
     {{0ms, kDns, "pass", "unmatched"},
      {0ms, kDns, "pass", "unmatched"},
      {0ms, kDns, "pass", "unmatched"}}},

    {"the strictest refusal decides, whatever the order",
     RULES "  - id: lenient\n    mode: enforce\n    key: []\n" LIMIT
           "    on_exceed: {action: pass}\n"
           "  - id: mark\n    mode: enforce\n    key: []\n" LIMIT
           "    on_exceed: {action: tag, dscp: cs1}\n"
           "  - id: strict\n    mode: enforce\n    when: l4.dport eq 53\n    key: []\n" LIMIT,
     {{0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "pass", "within_limits"},
      {0ms, kWeb, "tag", "over_limit", "mark"},
      {0ms, kDns, "drop", "over_limit", "strict", 100ms}}},

    {"of equal refusals the first in the file decides, and the wait is the longest",
     RULES "  - id: first\n    mode: enforce\n    key: []\n" LIMIT
           "  - id: second\n    mode: enforce\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]\n",
     {{0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "drop", "over_limit", "first", 1000ms}}},

    // The dropped packet must not spend from `wide`: it admits two more afterwards.
    {"what is dropped spends nothing, in no limit",
     RULES "  - id: narrow\n    mode: enforce\n    when: l4.dport eq 53\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"
           "  - id: wide\n    mode: enforce\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]\n",
     {{0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "drop", "over_limit", "narrow", 1s},
      {0ms, kDns, "drop", "over_limit", "narrow", 1s},
      {0ms, kWeb, "pass", "within_limits"},
      {0ms, kWeb, "pass", "within_limits"},
      {0ms, kWeb, "drop", "over_limit", "wide", 1s}}},

    // A tag forwards: the limit that refused spends nothing, the one that admitted does.
    {"what is tagged spends where it was admitted",
     RULES "  - id: mark\n    mode: enforce\n    when: l4.dport eq 53\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"
           "    on_exceed: {action: tag, dscp: 8}\n"
           "  - id: wide\n    mode: enforce\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 3}]\n",
     {{0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "tag", "over_limit", "mark"},
      {0ms, kWeb, "pass", "within_limits"},
      {0ms, kWeb, "drop", "over_limit", "wide", 1s},
      {1s, kDns, "pass", "within_limits"}}},

    {"all limits of a rule must admit",
     RULES "  - id: two\n    mode: enforce\n    key: [ip.src]\n    limits:\n"
           "      - {algorithm: token_bucket, rate: 10/s, burst: 3}\n"
           "      - {algorithm: token_bucket, per: byte, rate: 1000B/s, burst: 200B}\n",
     {{0ms, udp().size(14 + 150), "pass", "within_limits"},
      {0ms, udp().size(14 + 100), "drop", "over_limit", "two", 50ms},
      {0ms, udp().size(14 + 50), "pass", "within_limits"},
      {50ms, udp().size(14 + 50), "pass", "within_limits"},
      // The packet limit is at 3 - 3 + 0.5; the byte limit has room for none either.
      {50ms, udp().size(14 + 30), "drop", "over_limit", "two", 50ms}}},

    {"a cost above the burst never fits",
     RULES "  - id: big\n    mode: enforce\n    key: []\n    per: byte\n"
           "    limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 1000B}]\n",
     {{0ms, udp().size(14 + 1001), "drop", "over_limit", "big", kNever},
      {0ms, udp().size(14 + 1000), "pass", "within_limits"}}},

    {"on_match decides before any limit, the first in the file",
     RULES "  - id: metered\n    mode: enforce\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n"
           "  - id: watched\n    mode: monitor\n    on_match: drop\n"
           "  - id: friends\n    mode: enforce\n    when: ip.src in {10.0.0.0/8}\n"
           "    on_match: allow\n"
           "  - id: block\n    mode: enforce\n    when: l4.dport eq 53\n    on_match: drop\n",
     {{0ms, kDns, "pass", "allow_rule", "friends"},
      {0ms, udp().src("192.0.2.1").dport(53), "drop", "deny_rule", "block"},
      {0ms, udp().src("192.0.2.1").dport(80), "pass", "within_limits"},
      {0ms, kDns, "pass", "allow_rule", "friends"}}},

    {"a missing key part: skip by default",
     RULES "  - id: ports\n    mode: enforce\n    key: [l4.dport]\n"
           "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n",
     {{0ms, arp(), "pass", "unmatched"},
      {0ms, arp(), "pass", "unmatched"},
      {0ms, kDns, "pass", "within_limits"},
      {0ms, kDns, "drop", "over_limit", "ports", 24h}}},

    {"a missing key part: share",
     RULES "  - id: ports\n    mode: enforce\n    missing_key: share\n    key: [ip.src, l4.dport]\n"
           "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n",
     {{0ms, arp(), "pass", "within_limits"},
      {0ms, udp().frag(64, false), "drop", "over_limit", "ports", 24h},
      {0ms, kDns, "pass", "within_limits"}}},

    // What carries no SYN, or answers one, is neither judged nor charged.
    {"connections: a SYN without ACK is one, repeats too",
     RULES "  - id: new\n    mode: enforce\n    key: [ip.src]\n    per: connection\n"
           "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}]\n",
     {{0ms, kSyn, "pass", "within_limits"},
      {0ms, kSynAck, "pass", "unmatched"},
      {0ms, kWeb, "pass", "unmatched"},
      {0ms, kDns, "pass", "unmatched"},
      {0ms, tcp().src("10.0.0.1").flags(kSynBit).frag(64, false), "pass", "unmatched"},
      {0ms, kSyn, "pass", "within_limits"},
      {0ms, kSyn, "drop", "over_limit", "new", 1s},
      {0ms, kWeb, "pass", "unmatched"},
      {0ms, tcp().src("2001:db8::7").flags(kSynBit), "pass", "within_limits"},
      {999ms, kSyn, "drop", "over_limit", "new", 1ms},
      {1s, kSyn, "pass", "within_limits"}}},

    // The SYN that the connection limit refuses spends no packet either.
    {"connections: beside a limit of packets",
     RULES "  - id: both\n    mode: enforce\n    key: [ip.src]\n    limits:\n"
           "      - {algorithm: sliding_log, per: connection, count: 1, window: 1d}\n"
           "      - {algorithm: sliding_log, count: 3, window: 1h}\n",
     {{0ms, kSyn, "pass", "within_limits"},
      {0ms, kSyn, "drop", "over_limit", "both", 24h},
      {0ms, kWeb, "pass", "within_limits"},
      {0ms, kDns, "pass", "within_limits"},
      {0ms, kWeb, "drop", "over_limit", "both", 1h}}},

    {"malformed frames meet no rule",
     RULES "  - id: all\n    mode: enforce\n    key: []\n"
           "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n",
     {{0ms, udp().ihl(3), "drop", "bad_ip_header"},
      {0ms, udp().cut(20), "drop", "truncated_l3"},
      {0ms, udp().cut(38), "drop", "truncated_l4"},
      {0ms, udp().cut(9), "drop", "truncated_l2"},
      {0ms, kDns, "pass", "within_limits"}}},
};

class VerdictCase : public testing::TestWithParam<Case> {};

TEST_P(VerdictCase, Holds) {
    test::expect_case(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, VerdictCase, testing::ValuesIn(kCases));

// A header that lies beyond the bytes at hand: in a capture its fields are absent, on a live port
// the frame is malformed, so that nobody hides ports from the rules behind a mass of headers.
TEST(Verdict, HeadersOutOfReachAreMalformedOnALivePort) {
    const std::string_view rules = RULES
        "  - id: dns\n    mode: enforce\n    when: l4.dport eq 53\n"
        "    on_match: drop\n";
    const auto whole = kDns.bytes();
    const FrameView head{ByteView{whole}.first(36), static_cast<std::uint32_t>(whole.size())};
    Box live{rules};
    EXPECT_EQ(live.judge(head, kStart).reason, Reason::TooDeep);
    EXPECT_EQ(live.judge(head, kStart).verdict, Verdict::Drop);
    Box capture{rules, {.captured = true}};
    EXPECT_EQ(capture.judge(head, kStart).verdict, Verdict::Pass);
    EXPECT_EQ(capture.judge(head, kStart).reason, Reason::Unmatched);
}

// The order within a burst is the order of arrival: the third of three sees what two have spent.
TEST(Verdict, IsTheSameInOneBurstAsOneByOne) {
    Box box{RULES "  - id: dns\n    mode: enforce\n    key: [ip.src]\n" LIMIT};
    const auto frame = kDns.bytes();
    const auto got = box.judge_burst({frame, frame, frame, frame}, kStart);
    EXPECT_EQ(got[1].verdict, Verdict::Pass);
    EXPECT_EQ(got[2].verdict, Verdict::Drop);
    EXPECT_EQ(got[3].verdict, Verdict::Drop);
}

TEST(RuleCounters, MatchedIsAdmittedAndExceededAndSkipped) {
    Box box{RULES "  - id: ports\n    mode: monitor\n    key: [l4.dport]\n" LIMIT};
    for (int i = 0; i < 3; ++i) {
        (void)box.judge(kDns.bytes(), kStart);
    }
    (void)box.judge(arp().bytes(), kStart);
    (void)box.judge(udp().ihl(3).bytes(), kStart);
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 1U);
    EXPECT_EQ(box.counters(0).skipped.read(), 1U);
}

// A monitoring rule spends only what it would spend if it enforced, and never refuses for others.
TEST(Monitor, SpendsWhenItsOwnLimitsAdmitAndTheOthersForward) {
    Box box{RULES
            "  - id: watch\n    mode: monitor\n    key: []\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]\n"
            "  - id: block\n    mode: enforce\n    when: l4.dport eq 53\n    key: []\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n"};
    (void)box.judge(kDns.bytes(), kStart);  // both spend
    (void)box.judge(kDns.bytes(), kStart);  // block drops: watch has room, and spends nothing
    (void)box.judge(kWeb.bytes(), kStart);  // watch spends its second
    (void)box.judge(kWeb.bytes(), kStart);  // watch refuses, the packet passes
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 1U);
    EXPECT_EQ(box.counters(0).skipped.read(), 1U);
}

}  // namespace
}  // namespace sluice::verdict_cases_test

#undef RULES
#undef LIMIT
