#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/seen.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

// Later fragments go where the first of their datagram goes; offsets are in units of 8 bytes.
namespace sluice::fragment_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Case;
using test::Frame;
using test::kStart;
using test::tcp;
using test::udp;

#define HEAD "version: 1\nrules:\n"
#define DNS(mode) HEAD "  - {id: dns, mode: " mode ", when: l4.dport eq 53, on_match: drop}\n"
#define ONE(id, key)                             \
    "  - {id: " id ", mode: enforce, key: [" key \
    "], limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n"

// 8 + 16 bytes: the first three units of a datagram.
Frame first(std::uint16_t port) {
    return udp().src("10.0.0.1").dport(port).payload(16).frag(0, true);
}
Frame later(std::uint16_t offset, bool more = false, std::size_t size = 16) {
    return udp().src("10.0.0.1").payload(size).frag(offset, more);
}

const Case kCases[] = {
    {"a refused datagram is refused whole",
     DNS("enforce"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3, true), "drop", "fragment_of_refused"},
      {0ms, later(5), "drop", "fragment_of_refused"},
      {0ms, later(3), "pass", "unmatched"}}},

    {"an admitted one passes",
     DNS("enforce"),
     {{0ms, first(80), "pass", "unmatched"},
      {0ms, later(3, true), "pass", "unmatched"},
      {0ms, later(5), "pass", "unmatched"}}},

    {"a later fragment that comes before its first is judged by its own headers",
     DNS("enforce"),
     {{0ms, later(3), "pass", "unmatched"},
      {0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3), "drop", "fragment_of_refused"}}},

    {"what overlaps ends the datagram",
     DNS("enforce"),
     {{0ms, first(80), "pass", "unmatched"},
      {0ms, later(2, true), "drop", "overlapping_fragment"},
      {0ms, later(3), "drop", "overlapping_fragment"}}},

    {"a copy of a later fragment is no overlap",
     DNS("enforce"),
     {{0ms, first(80), "pass", "unmatched"},
      {0ms, later(3, true), "pass", "unmatched"},
      {0ms, later(3, true), "pass", "unmatched"},
      {0ms, first(80), "pass", "unmatched"},
      {0ms, later(5), "pass", "unmatched"},
      {0ms, later(5), "pass", "unmatched"}}},

    {"another one in its place is",
     DNS("enforce"),
     {{0ms, first(80), "pass", "unmatched"},
      {0ms, later(3, true, 16), "pass", "unmatched"},
      {0ms, later(3, true, 8), "drop", "overlapping_fragment"},
      {0ms, later(5), "drop", "overlapping_fragment"}}},

    {"a copy of a later fragment of a refused datagram is refused",
     DNS("enforce"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3, true), "drop", "fragment_of_refused"},
      {0ms, later(3, true), "drop", "fragment_of_refused"},
      {0ms, later(5), "drop", "fragment_of_refused"}}},

    {"a first fragment of another size ends it too",
     DNS("enforce"),
     {{0ms, first(80), "pass", "unmatched"},
      {0ms, first(80).payload(24), "pass", "unmatched"},
      {0ms, later(4), "drop", "overlapping_fragment"}}},

    {"a first fragment sent again: the stricter verdict stands",
     DNS("enforce"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, first(80), "pass", "unmatched"},
      {0ms, later(3), "drop", "fragment_of_refused"}}},

    {"after the time-out nothing follows",
     DNS("enforce"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {29s, later(3, true), "drop", "fragment_of_refused"},
      {31s, later(5), "pass", "unmatched"}}},

    {"a rule that watches refuses no fragment",
     DNS("monitor"),
     {{0ms, first(53), "pass", "unmatched"},
      {0ms, later(2), "pass", "unmatched"},
      {0ms, later(3), "pass", "unmatched"}}},

    {"what is dropped for its first is charged nothing",
     DNS("enforce") ONE("each", "ip.src"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3), "drop", "fragment_of_refused"},
      {0ms, first(80), "pass", "within_limits"}}},

    {"a later fragment of an admitted datagram is limited as any packet",
     HEAD ONE("each", "ip.src"),
     {{0ms, first(80), "pass", "within_limits"},
      {0ms, later(3), "drop", "over_limit", "each", 24h}}},

    {"a rule that allows by addresses does not undo what refused the first",
     DNS("enforce") "  - {id: all, mode: enforce, when: ip.src eq 10.0.0.1, on_match: allow}\n",
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3, true), "drop", "fragment_of_refused"},
      {0ms, first(80).identification(2), "pass", "allow_rule", "all"},
      {0ms, later(3).identification(2), "pass", "allow_rule", "all"}}},

    {"datagrams are told apart by identification, addresses, protocol and VLAN",
     DNS("enforce"),
     {{0ms, first(53), "drop", "deny_rule", "dns"},
      {0ms, later(3).identification(7), "pass", "unmatched"},
      {0ms, later(3).src("10.0.0.2"), "pass", "unmatched"},
      {0ms, later(3).dst("198.51.100.2"), "pass", "unmatched"},
      {0ms, later(3).proto(6), "pass", "unmatched"},
      {0ms, later(3).vlan(5), "pass", "unmatched"},
      {0ms, later(3), "drop", "fragment_of_refused"}}},

    {"TCP",
     DNS("enforce"),
     {{0ms, tcp().dport(53).payload(4).frag(0, true), "drop", "deny_rule", "dns"},
      {0ms, tcp().payload(8).frag(3, false), "drop", "fragment_of_refused"}}},

    {"IPv6, where fragments of a datagram may name different protocols",
     DNS("enforce"),
     {{0ms, first(53).src("2001:db8::1"), "drop", "deny_rule", "dns"},
      {0ms, later(3, true).src("2001:db8::1"), "drop", "fragment_of_refused"},
      {0ms, later(5).src("2001:db8::1").proto(60), "drop", "fragment_of_refused"},
      {0ms, later(5).src("2001:db8::2"), "pass", "unmatched"}}},
};

class FragmentCase : public testing::TestWithParam<Case> {};

UnitBudget passing_orphans() {
    return capture_unit_budget();
}

TEST_P(FragmentCase, Holds) {
    UnitParser parser{passing_orphans()};
    Box box{GetParam().rules};
    box.follow_fragments_by(parser.fragments());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, FragmentCase, testing::ValuesIn(kCases));

// A packet in VXLAN: 8 bytes of VXLAN, 14 of Ethernet, 20 of IP, 8 of UDP, and 46 more.
test::Octets carried_from(std::string_view source) {
    return test::vxlan(udp().src(source).dst("10.91.0.2").dport(7777).payload(46).bytes());
}
// The fragments of its datagram: so many bytes of it, and those behind them.
Frame tunnel_first(const test::Octets& carried, std::size_t size, std::uint16_t port = 4789) {
    return udp().dport(port).carries(test::head_of(carried, size)).frag(0, true);
}
Frame tunnel_later(const test::Octets& carried, std::size_t size) {
    return udp()
        .carries({carried.begin() + static_cast<std::ptrdiff_t>(size), carried.end()})
        .frag(static_cast<std::uint16_t>(1 + size / 8), false);
}

#define NEVER HEAD "  - {id: never, mode: enforce, when: ip.src eq 10.91.0.9, on_match: drop}\n"

const test::Octets kRefused = carried_from("10.91.0.9");
const test::Octets kAdmitted = carried_from("10.91.0.8");

const Case kTunnelCases[] = {
    {"a first fragment that ends in the tunnel's header, and what hides behind it",
     NEVER,
     {{0ms, tunnel_first(kRefused, 0), "drop", "truncated_l4"},
      {0ms, tunnel_first(kRefused, 8), "drop", "truncated_l4"},
      {0ms, tunnel_first(kRefused, 16), "drop", "truncated_l4"},
      {0ms, tunnel_first(kRefused, 24), "drop", "truncated_l3"},
      {0ms, tunnel_first(kRefused, 48), "drop", "truncated_l4"}}},

    {"the same to a port of no tunnel",
     NEVER,
     {{0ms, tunnel_first(kRefused, 0, 4788), "pass", "unmatched"},
      {0ms, tunnel_first(kRefused, 8, 4788).identification(2), "pass", "unmatched"},
      {0ms, tunnel_later(kRefused, 8).identification(2), "pass", "unmatched"}}},

    {"a packet that is refused in a first fragment is refused whole",
     NEVER,
     {{0ms, tunnel_first(kRefused, 56), "drop", "deny_rule", "never"},
      {0ms, tunnel_later(kRefused, 56), "drop", "fragment_of_refused"}}},

    {"one that is admitted goes on, and nothing comes in its place",
     NEVER,
     {{0ms, tunnel_first(kAdmitted, 56), "pass", "unmatched"},
      {0ms, tunnel_later(kRefused, 8), "drop", "overlapping_fragment"},
      {0ms, tunnel_first(kAdmitted, 56).identification(2), "pass", "unmatched"},
      {0ms, tunnel_later(kAdmitted, 56).identification(2), "pass", "unmatched"}}},
};

class TunnelFragmentCase : public testing::TestWithParam<Case> {};

TEST_P(TunnelFragmentCase, Holds) {
    UnitParser parser{passing_orphans()};
    Box box{GetParam().rules, PacketPolicy{.tunnels = test::kAllTunnels}};
    box.follow_fragments_by(parser.fragments());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, TunnelFragmentCase, testing::ValuesIn(kTunnelCases));

std::vector<std::string> reasons_of(const std::vector<Decision>& decisions) {
    std::vector<std::string> reasons;
    for (const Decision& decision : decisions) {
        reasons.emplace_back(row_of(decision.reason).name);
    }
    return reasons;
}

TEST(Fragments, OfOneBurstFollowEachItsOwnFirst) {
    UnitParser parser{passing_orphans()};
    Box box{DNS("enforce") ONE("each", "ip.dst")};
    box.follow_fragments_by(parser.fragments());
    const auto decisions = box.judge_burst(
        {first(80).bytes(), first(53).identification(2).bytes(), later(3).identification(2).bytes(),
         first(80).identification(3).bytes(), later(3).identification(3).bytes(), later(3).bytes(),
         later(3).identification(4).dst("198.51.100.4").bytes()},
        kStart);
    EXPECT_EQ(
        reasons_of(decisions),
        (std::vector<std::string>{"within_limits", "deny_rule", "fragment_of_refused", "over_limit",
                                  "fragment_of_refused", "over_limit", "within_limits"}));
}

TEST(Fragments, AreEachJudgedByTheirOwnHeadersWherePolicySaysSo) {
    UnitBudget budget = passing_orphans();
    budget.fragment_policy = FragmentPolicy::Judge;
    UnitParser parser{budget};
    Box box{DNS("enforce")};
    box.follow_fragments_by(parser.fragments());
    EXPECT_EQ(reasons_of({box.judge(first(53).bytes(), kStart), box.judge(later(2).bytes(), kStart),
                          box.judge(later(3).bytes(), kStart)}),
              (std::vector<std::string>{"deny_rule", "unmatched", "unmatched"}));
}

// Where the table is full the oldest is forgotten, and its later fragments are judged by their own
// headers; each is counted.
TEST(Fragments, OfDatagramsBeyondTheTableAreCounted) {
    UnitBudget budget = passing_orphans();
    budget.fragments.datagrams = 64;
    UnitParser parser{budget};
    Box box{DNS("enforce")};
    box.follow_fragments_by(parser.fragments());
    constexpr std::uint16_t kDatagrams = 1000;
    for (std::uint16_t number = 0; number < kDatagrams; ++number) {
        const Decision decision = box.judge(first(53).identification(number).bytes(), kStart);
        EXPECT_EQ(decision.reason, Reason::DenyRule);
    }
    std::uint64_t dropped = 0;
    for (std::uint16_t number = 0; number < kDatagrams; ++number) {
        const Decision decision = box.judge(later(3).identification(number).bytes(), kStart);
        dropped += decision.reason == Reason::FragmentOfRefused ? 1 : 0;
    }
    const auto counted = [&](UnitEvent event) {
        return box.counters().by_unit_event[static_cast<std::size_t>(event)].read();
    };
    EXPECT_GT(dropped, 0U);
    EXPECT_EQ(counted(UnitEvent::FragmentFirst), kDatagrams);
    EXPECT_EQ(counted(UnitEvent::FragmentFollowed), dropped);
    EXPECT_EQ(counted(UnitEvent::FragmentOrphan), kDatagrams - dropped);
    EXPECT_EQ(counted(UnitEvent::FragmentEvicted), kDatagrams - dropped);
}

}  // namespace
}  // namespace sluice::fragment_cases_test
