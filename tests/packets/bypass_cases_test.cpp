#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

// Budgets of `bypass`: what is within one goes through before any rule; what is beyond it meets the
// rules as if there were none.
namespace sluice::bypass_cases_test {
namespace {

using namespace std::chrono_literals;
using test::arp;
using test::Box;
using test::Case;
using test::Frame;
using test::kStart;
using test::tcp;
using test::udp;

#define BUCKET(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define ARP "{when: \"eth.type eq 0x0806\", key: [], limit: " BUCKET("10/s", "2") "}"
#define BGP                                                                                    \
    "{when: \"l4.dport eq 179 and ip.src eq 192.0.2.1\", key: [ip.src], limit: " BUCKET("1/s", \
                                                                                        "1") "}"
#define DROP "rules: [{id: all, mode: enforce, on_match: drop}]\n"

const Frame kNeighbour = tcp().src("192.0.2.1").dport(179);
const Frame kStranger = tcp().src("192.0.2.2").dport(179);

const Case kCases[] = {
    {"within the budget it passes what the rules would drop, beyond it they decide",
     "version: 1\nbypass: [" ARP "]\n" DROP,
     {{0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "drop", "deny_rule", "all"},
      {0ms, udp(), "drop", "deny_rule", "all"},
      {100ms, arp(), "pass", "bypass", "bypass.1"},
      {100ms, arp(), "drop", "deny_rule", "all"}}},

    // Whoever imitates the neighbour spends the neighbour's budget at most, and no other.
    {"each budget is its own, and keyed",
     "version: 1\nbypass: [" ARP ", " BGP "]\n" DROP,
     {{0ms, kNeighbour, "pass", "bypass", "bypass.2"},
      {0ms, kNeighbour, "drop", "deny_rule", "all"},
      {0ms, kStranger, "drop", "deny_rule", "all"},
      {0ms, arp(), "pass", "bypass", "bypass.1"}}},

    {"of several budgets that match, the first with room is charged",
     "version: 1\nbypass: [" ARP
     ", {when: \"not ip.version eq 4\", key: [], limit: " BUCKET("1/s", "1") "}]\n" DROP,
     {{0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "pass", "bypass", "bypass.2"},
      {0ms, arp(), "drop", "deny_rule", "all"}}},

    {"what passes within a budget spends nothing of any rule",
     "version: 1\nbypass: [" ARP
     "]\nrules: [{id: all, mode: enforce, key: [], limits: [" BUCKET("1/d", "1") "]}]\n",
     {{0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "pass", "bypass", "bypass.1"},
      {0ms, arp(), "pass", "within_limits"},
      {0ms, arp(), "drop", "over_limit", "all", 86'400'000ms}}},

    {"a budget whose key lacks a part applies to nothing",
     "version: 1\nbypass: [{when: \"eth.type eq 0x0806\", key: [ip.src], limit: " BUCKET(
         "1/s", "9") "}]\n" DROP,
     {{0ms, arp(), "drop", "deny_rule", "all"}}},

    {"a budget that counts connections lets the rest of them meet the rules",
     "version: 1\nbypass: [{when: \"l4.dport eq 179\", key: [], limit: {algorithm: token_bucket, "
     "per: connection, rate: 1/s, burst: 9}}]\n" DROP,
     {{0ms, tcp().dport(179).flags(0x002), "pass", "bypass", "bypass.1"},
      {0ms, tcp().dport(179).flags(0x010), "drop", "deny_rule", "all"}}},

    {"a budget may name a limit, in bytes too",
     "version: 1\nlimits:\n  few: {algorithm: token_bucket, per: byte, rate: 100B/s, burst: 100B}\n"
     "bypass: [{when: \"l4.dport eq 53\", key: [], limit: few}]\n" DROP,
     {{0ms, udp().dport(53).size(14 + 100), "pass", "bypass", "bypass.1"},
      {0ms, udp().dport(53).size(14 + 50), "drop", "deny_rule", "all"},
      {500ms, udp().dport(53).size(14 + 50), "pass", "bypass", "bypass.1"}}},
};

class BypassCase : public testing::TestWithParam<Case> {};

TEST_P(BypassCase, Holds) {
    test::expect_case(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, BypassCase, testing::ValuesIn(kCases));

// What a budget let through, what was beyond it, and what it could not count.
TEST(Bypass, CountsLikeARule) {
    Box box{
        "version: 1\nbypass: [" ARP
        ", {when: \"eth.type eq 0x0806\", key: [ip.src], limit: " BUCKET("1/s", "9") "}]\n" DROP};
    for (int i = 0; i < 5; ++i) {
        (void)box.judge(arp().bytes(), kStart);
    }
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 3U);
    EXPECT_EQ(box.counters(1).skipped.read(), 3U);
    EXPECT_EQ(box.counters(2).exceeded.read(), 3U);
}

// A flood of what imitates exceptions gets the budget and not a packet more, over any time.
TEST(Bypass, HoldsAFloodToItsBudget) {
    Box box{"version: 1\nbypass: [" ARP "]\n" DROP};
    int passed = 0;
    for (int i = 0; i < 10'000; ++i) {
        passed += box.judge(arp().bytes(), kStart + i * 1ms).verdict == Verdict::Pass ? 1 : 0;
    }
    EXPECT_EQ(passed, 2 + 99);
}

TEST(Bypass, KeepsItsBudgetOverAReload) {
    Box box{"version: 1\nbypass: [" ARP "]\n" DROP};
    (void)box.judge(arp().bytes(), kStart);
    ASSERT_TRUE(box.reload("version: 1\nbypass: [" ARP ", " BGP "]\n" DROP));
    EXPECT_EQ(box.judge(arp().bytes(), kStart).reason, Reason::Bypass);
    EXPECT_EQ(box.judge(arp().bytes(), kStart).reason, Reason::DenyRule);
}

}  // namespace
}  // namespace sluice::bypass_cases_test

#undef BUCKET
#undef ARP
#undef BGP
#undef DROP
