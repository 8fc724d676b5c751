#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

// Datagrams of UDP to a declared service that come in IP fragments: the one that completes a
// datagram has the verdict of all of it. Offsets are in units of 8 bytes.
namespace sluice::service_fragments_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::Octets;
using test::Step;

// A query of 48 bytes, in a datagram of 56.
Octets query(std::string_view name = "login.example") {
    Octets message = test::message_octets(test::dns_query(name));
    message.resize(48);
    return message;
}
Octets part_of(const Octets& bytes, std::size_t from, std::size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(std::min(to, bytes.size()))};
}

// The first 24 bytes of the datagram: its header and 16 of the query.
Frame first(const Octets& message = query(), std::uint16_t port = 53) {
    return test::udp()
        .src("10.0.0.1")
        .dst("192.0.2.1")
        .dport(port)
        .udp_len(static_cast<std::uint16_t>(8 + message.size()))
        .carries(part_of(message, 0, 16))
        .frag(0, true);
}
Frame middle(const Octets& message = query()) {
    return first().carries(part_of(message, 16, 32)).frag(3, true);
}
Frame last(const Octets& message = query()) {
    return first().carries(part_of(message, 32, 99)).frag(5, false);
}
// The part from the middle to the end.
Frame rest(const Octets& message = query()) {
    return first().carries(part_of(message, 16, 99)).frag(3, false);
}
Frame in_v6(Frame frame) {
    return frame.src("2001:db8::1").dst("2001:db8::53");
}

Frame whole() {
    return test::udp().src("10.0.0.1").dst("192.0.2.1").dport(53).carries(query());
}

Octets of(std::initializer_list<unsigned> values) {
    Octets octets;
    for (const unsigned value : values) {
        octets.push_back(static_cast<std::byte>(value));
    }
    return octets;
}
const Octets kRecordRoute = of({7, 3, 4, 0});
const Octets kRouterAlert = of({148, 4, 0, 0});
// Extension headers of IPv6 before this one.
constexpr unsigned kUdp = 17;
constexpr unsigned kFragmentHeader = 44;
Octets padding(unsigned next) {
    return of({next, 0, 1, 4, 0, 0, 0, 0});
}
Octets unknown_option(unsigned next) {
    return of({next, 0, 0x9E, 4, 0, 0, 0, 0});
}
const Octets kRouting = of({kUdp, 0, 0, 1, 0, 0, 0, 0});

const Octets kNoQuery(48, std::byte{0xFF});

#define SERVICE(mode)                                                                       \
    "version: 1\nservices:\n  - {id: dns, protocol: dns, when: l4.dport eq 53, mode: " mode \
    ", checksums: trust}\nrules:\n"
#define RULES                                                                            \
    "  - {id: logins, mode: enforce, when: 'l4.dport eq 53 and dns.qname eq "            \
    "\"login.example\"', key: [ip.src], per: query, limits: [{algorithm: fixed_window, " \
    "count: 1, window: 1h}]}\n"
constexpr std::string_view kEnforced = SERVICE("enforce") RULES;
constexpr std::string_view kMonitored = SERVICE("monitor") RULES;

const Case kCases[] = {
    {"the last fragment has the verdict of the whole query",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, middle(), "pass", "unmatched"},
      {0ms, last(), "pass", "within_limits"},
      {0ms, first().identification(2), "pass", "unmatched"},
      {0ms, middle().identification(2), "pass", "unmatched"},
      {0ms, last().identification(2), "drop", "over_limit", "logins", Nanoseconds{1h}}}},

    {"in whatever order they come behind the first, the one that completes it has it",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, last(), "pass", "unmatched"},
      {0ms, middle(), "pass", "within_limits"}}},

    {"in fragments and whole they are the same to a limit",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, rest(), "pass", "within_limits"},
      {0ms, test::udp().src("10.0.0.1").dst("192.0.2.1").dport(53).carries(query()), "drop",
       "over_limit", "logins", Nanoseconds{1h}}}},

    {"what the whole query says counts, not what its first fragment holds",
     kEnforced,
     {{0ms, first(query("other.example")), "pass", "unmatched"},
      {0ms, rest(query("other.example")), "pass", "unmatched"},
      {0ms, first().identification(2), "pass", "unmatched"},
      {0ms, rest().identification(2), "pass", "within_limits"}}},

    {"copies of all of them are another query",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, rest(), "pass", "within_limits"},
      {0ms, rest(), "pass", "unmatched"},
      {0ms, rest(), "pass", "unmatched"},
      {0ms, first(), "drop", "over_limit", "logins", Nanoseconds{1h}},
      {0ms, rest(), "drop", "fragment_of_refused"}}},

    {"copies pass and are charged nothing, and those of a refused datagram are refused",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, first(), "pass", "unmatched"},
      {0ms, rest(), "pass", "within_limits"},
      {0ms, rest(), "pass", "unmatched"},
      {0ms, first().identification(2), "pass", "unmatched"},
      {0ms, rest().identification(2), "drop", "over_limit", "logins", Nanoseconds{1h}},
      {0ms, rest().identification(2), "drop", "fragment_of_refused"},
      {59s, first().identification(2), "drop", "fragment_of_refused"},
      {61s, first().identification(2), "pass", "unmatched"}}},

    {"what overlaps differently ends the datagram",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, middle(), "pass", "unmatched"},
      {0ms, middle(query("other.example")), "drop", "overlapping_fragment"},
      {0ms, last(), "drop", "lost_head"},
      {0ms, first(), "drop", "lost_head"}}},

    {"what differs from a judged datagram is refused",
     kEnforced,
     {{0ms, first(query("other.example")), "pass", "unmatched"},
      {0ms, rest(query("other.example")), "pass", "unmatched"},
      {0ms, first(), "drop", "overlapping_fragment"},
      {0ms, first(query("other.example")), "pass", "unmatched"}}},

    {"a first fragment behind a later one is refused, since a server may hold that one",
     kEnforced,
     {{0ms, rest(), "pass", "unmatched"},
      {0ms, first(), "drop", "lost_head"},
      {59s, first(), "drop", "lost_head"},
      {121s, first(), "pass", "unmatched"}}},

    {"a first fragment to another port before it hides nothing",
     kEnforced,
     {{0ms, first(query(), 9), "pass", "unmatched"},
      {0ms, rest(), "pass", "unmatched"},
      {0ms, first(), "drop", "lost_head"}}},

    {"datagrams to other ports are of no service",
     kEnforced,
     {{0ms, first(query(), 9), "pass", "unmatched"},
      {0ms, rest(), "pass", "unmatched"},
      {0ms, rest(query("other.example")), "pass", "unmatched"}}},

    {"what is no query is refused by the fragment that completes it",
     kEnforced,
     {{0ms, first(kNoQuery), "pass", "unmatched"},
      {0ms, rest(kNoQuery), "drop", "unreadable"},
      {0ms, rest(kNoQuery), "drop", "fragment_of_refused"}}},

    {"a header of UDP that claims more than came is refused",
     kEnforced,
     {{0ms, first().udp_len(200), "pass", "unmatched"}, {0ms, rest(), "drop", "unreadable"}}},

    {"fragments of IPv6 that name other protocols are of their datagram",
     kEnforced,
     {{0ms, in_v6(first()), "pass", "unmatched"},
      {0ms, in_v6(rest()).proto(60), "pass", "within_limits"},
      {0ms, in_v6(first()).identification(2), "pass", "unmatched"},
      {0ms, in_v6(rest()).identification(2).proto(60), "drop", "over_limit", "logins",
       Nanoseconds{1h}}}},

    {"datagrams are told apart by identification, source, both VLAN tags, pair and side",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, rest().identification(7), "pass", "unmatched"},
      {0ms, rest().src("10.0.0.2"), "pass", "unmatched"},
      {0ms, rest().vlan(5), "pass", "unmatched"},
      {0ms, rest().vlan(5).vlan(6), "pass", "unmatched"},
      {0ms, rest().on("other"), "pass", "unmatched"},
      {0ms, rest().from_inside(), "pass", "unmatched"},
      {0ms, rest(), "pass", "within_limits"},
      {0ms, first().identification(8).vlan(5).vlan(6), "pass", "unmatched"},
      {0ms, rest().identification(8).vlan(5).vlan(7), "pass", "unmatched"},
      {0ms, rest().identification(8).vlan(5).vlan(6), "drop", "over_limit", "logins",
       Nanoseconds{1h}}}},

    {"a VID of 0 is no tag, outer or inner",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {0ms, middle().vlan(0), "pass", "unmatched"},
      {0ms, last().vlan(0).vlan(0), "pass", "within_limits"},
      {0ms, first().identification(2).vlan(5), "pass", "unmatched"},
      {0ms, middle().identification(2).vlan(0).vlan(5), "pass", "unmatched"},
      {0ms, last().identification(2).vlan(5).vlan(0), "drop", "over_limit", "logins",
       Nanoseconds{1h}}}},

    {"behind headers of IP for which hosts drop a packet they are refused",
     kEnforced,
     {{0ms, first().identification(9).options(kRecordRoute), "drop", "doubtful_options"},
      {0ms, first(), "pass", "unmatched"},
      {0ms, rest().options(kRecordRoute), "drop", "doubtful_options"},
      {0ms, rest().options(kRouterAlert), "pass", "within_limits"},
      {0ms, in_v6(first()).identification(9).extensions(60, unknown_option(kFragmentHeader)),
       "drop", "doubtful_options"},
      {0ms, in_v6(first()).extensions(60, padding(kFragmentHeader)), "pass", "unmatched"},
      {0ms, in_v6(rest()).extensions(60, unknown_option(kFragmentHeader)), "drop",
       "doubtful_options"},
      {0ms, in_v6(rest()).extensions(60, padding(kFragmentHeader)), "pass", "within_limits"}}},

    {"so are whole datagrams",
     kEnforced,
     {{0ms, whole().options(kRecordRoute), "drop", "doubtful_options"},
      {0ms, in_v6(whole()).extensions(43, kRouting), "drop", "doubtful_options"},
      {0ms, in_v6(whole()).extensions(0, unknown_option(kUdp)), "drop", "doubtful_options"},
      {0ms, in_v6(whole()).extensions(0, padding(kUdp)), "pass", "within_limits"},
      {0ms, whole().options(kRouterAlert), "pass", "within_limits"},
      {0ms, whole(), "drop", "over_limit", "logins", Nanoseconds{1h}}}},

    {"after their time fragments are of no datagram",
     kEnforced,
     {{0ms, first(), "pass", "unmatched"},
      {61s, rest(), "pass", "unmatched"},
      {62s, first(), "drop", "lost_head"}}},
};

class ServiceFragments : public testing::TestWithParam<Case> {};

// Cases hold whether or not later fragments follow their first ones where rules refuse these.
TEST_P(ServiceFragments, Hold) {
    for (const bool follows : {false, true}) {
        SCOPED_TRACE(follows);
        UnitParser parser{capture_unit_budget()};
        test::Box box{GetParam().rules};
        box.find_units_by(parser.finder());
        if (follows) {
            box.follow_fragments_by(parser.fragments());
        }
        test::expect_steps(box, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(All, ServiceFragments, testing::ValuesIn(kCases));

// A monitored service counts what it would refuse.
TEST(ServiceFragmentsOfAMonitored, PassAndQueriesCountAllTheSame) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kMonitored};
    box.find_units_by(parser.finder());
    test::expect_steps(box, {"monitored",
                             kMonitored,
                             {{0ms, first(), "pass", "unmatched"},
                              {0ms, middle(), "pass", "unmatched"},
                              {0ms, middle(query("other.example")), "pass", "unmatched"},
                              {0ms, first(kNoQuery).identification(2), "pass", "unmatched"},
                              {0ms, rest(kNoQuery).identification(2), "pass", "unmatched"},
                              {0ms, first().identification(3), "pass", "unmatched"},
                              {0ms, rest().identification(3), "pass", "within_limits"}}});
    const auto would_refuse = [&](Reason reason) {
        return box.counters().would_refuse[static_cast<std::size_t>(reason)].read();
    };
    EXPECT_EQ(would_refuse(Reason::OverlappingFragment), 1U);
    EXPECT_EQ(would_refuse(Reason::Unreadable), 1U);
}

struct Worker {
    std::vector<std::string> judge(const std::vector<Frame>& frames) {
        std::vector<Octets> bytes;
        for (const Frame& frame : frames) {
            bytes.push_back(frame.bytes());
        }
        std::vector<std::string> reasons;
        for (const Decision& decision : box.judge_burst(bytes, test::kStart)) {
            reasons.emplace_back(row_of(decision.reason).name);
        }
        return reasons;
    }
    [[nodiscard]] std::uint64_t count(UnitEvent event) const {
        return box.counters().by_unit_event[static_cast<std::size_t>(event)].read();
    }
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    Worker() { box.find_units_by(parser.finder()); }
};

// All in one burst: copies go where the fragment goes that completed the datagram.
TEST(ServiceFragmentsInABurst, AreJudgedAsWhenTheyComeOneByOne) {
    Worker worker;
    EXPECT_EQ(worker.judge({first(), rest(), rest(), first().identification(2),
                            rest().identification(2), rest().identification(2)}),
              (std::vector<std::string>{"unmatched", "within_limits", "unmatched", "unmatched",
                                        "over_limit", "retransmission"}));
    EXPECT_EQ(worker.count(UnitEvent::DatagramWhole), 2U);
}

// One source has at most eight datagrams that are not whole: its own oldest are given up.
TEST(ServiceFragmentsInABurst, OfOneSourceGiveUpItsOwnOldest) {
    Worker worker;
    std::vector<Frame> firsts;
    for (std::uint16_t number = 0; number < 10; ++number) {
        firsts.push_back(first().src("10.0.0.9").identification(number));
    }
    EXPECT_EQ(worker.judge({first()}).front(), "unmatched");
    for (const std::string& reason : worker.judge(firsts)) {
        EXPECT_EQ(reason, "unmatched");
    }
    EXPECT_EQ(worker.count(UnitEvent::DatagramGivenUp), 2U);
    EXPECT_EQ(worker.judge({rest().src("10.0.0.9").identification(0), rest()}),
              (std::vector<std::string>{"lost_head", "within_limits"}));
}

}  // namespace
}  // namespace sluice::service_fragments_test
#undef SERVICE
#undef RULES
