#include "tests/packets/verdict_case.hpp"

// Limits of open connections, packet by packet: what opens one, what closes it, and what does not.
namespace sluice::concurrency_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::kStart;
using test::tcp;

constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;

// The numbers that a client and its server begin with.
constexpr std::uint32_t kMine = 1000;
constexpr std::uint32_t kYours = 5000;

Frame client(std::uint16_t port, std::uint16_t flags, std::uint32_t seq, std::uint32_t ack = 0) {
    return tcp()
        .src("10.0.0.1")
        .dst("10.9.9.9")
        .sport(port)
        .dport(80)
        .flags(flags)
        .seq(seq)
        .ack(ack);
}
Frame server(std::uint16_t port, std::uint16_t flags, std::uint32_t seq, std::uint32_t ack) {
    return tcp()
        .src("10.9.9.9")
        .dst("10.0.0.1")
        .sport(80)
        .dport(port)
        .flags(flags)
        .seq(seq)
        .ack(ack)
        .from_inside();
}
Frame syn(std::uint16_t port, std::uint32_t seq = kMine) {
    return client(port, kSyn, seq);
}
Frame syn_ack(std::uint16_t port) {
    return server(port, kSyn | kAck, kYours, kMine + 1);
}

#define RULE                                                                                \
    "version: 1\nrules:\n  - id: r\n    mode: enforce\n    when: l4.dport eq 80\n    key: " \
    "[ip.src]\n"
#define ONE RULE "    limits: [{algorithm: concurrency, count: 1, idle: 1m}]\n"
#define TWO RULE "    limits: [{algorithm: concurrency, count: 2, idle: 1m}]\n"
#define PASS "pass", "within_limits"
#define ELSE "pass", "unmatched"
#define WAITS(time) "drop", "over_limit", "r", time

const Case kCases[] = {
    {"the SYN beyond the count waits until the oldest is idle",
     TWO,
     {{0s, syn(1), PASS},
      {10s, syn(2), PASS},
      {20s, syn(3), WAITS(40s)},
      {60s - 1ns, syn(3), WAITS(1ns)},
      {60s, syn(3), PASS},
      {60s, syn(4), WAITS(10s)}}},

    {"a SYN that comes again opens nothing more, and one that was refused opens nothing",
     TWO,
     {{0s, syn(1), PASS},
      {1s, syn(1), PASS},
      {1s, syn(2), PASS},
      {2s, syn(3), WAITS(59s)},
      {2s, syn(1), PASS},
      {2s, syn(2), PASS}}},

    {"packets of either direction keep it open",
     ONE,
     {{0s, syn(1), PASS},
      {30s, syn_ack(1), ELSE},
      {60s, syn(2), WAITS(30s)},
      {80s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {100s, syn(2), WAITS(40s)},
      {140s, syn(2), PASS}}},

    {"both FINs close it; one does not",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kFin | kAck, kMine + 1, kYours + 1), ELSE},
      {1s, syn(2), WAITS(59s)},
      {1s, server(1, kFin | kAck, kYours + 1, kMine + 2), ELSE},
      {1s, syn(2), PASS}}},

    {"a FIN ahead of what has passed closes nothing",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, server(1, kFin | kAck, kYours + 1, kMine + 1), ELSE},
      {0s, client(1, kFin | kAck, kMine + 2, kYours + 2), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kFin | kAck, kMine + 1, kYours + 2).payload(7), ELSE},
      {0s, syn(2), PASS}}},

    {"the client's RST closes it with the number that the server expects, and with no other",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kRst, kMine, 0), ELSE},
      {0s, client(1, kRst, kMine + 2, 0), ELSE},
      {0s, client(1, kRst, kMine + 1 + 60'000, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"so does an RST behind its data, acknowledged or not",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(100), ELSE},
      {0s, client(1, kRst, kMine + 51, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 101, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"data with a gap before it is not what the server expects an RST behind",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 11, kYours + 1).payload(100), ELSE},
      {0s, client(1, kRst, kMine + 111, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, server(1, kAck, kYours + 1, kMine + 111), ELSE},
      {0s, client(1, kRst, kMine + 111, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"the server's RST, to the SYN or later",
     ONE,
     {{0s, syn(1), PASS},
      {0s, server(1, kRst | kAck, 0, kMine + 2), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, server(1, kRst | kAck, 0, kMine + 1), ELSE},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, server(2, kRst, kYours, 0), ELSE},
      {0s, syn(3), WAITS(1min)},
      {0s, server(2, kRst, kYours + 1, 0), ELSE},
      {0s, syn(3), PASS}}},

    // Its server answers such a SYN with a challenge and keeps the connection.
    {"another SYN between the same ends moves no number until the server takes it",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, syn(1, 70'000), PASS},
      {0s, client(1, kRst, 70'001, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, syn(1, 80'000), PASS},
      {0s, server(1, kSyn | kAck, 9000, 80'001), ELSE},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, 80'001, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"numbers wrap",
     ONE,
     {{0s, syn(1, 0xFFFF'FFFF), PASS},
      {0s, server(1, kSyn | kAck, 0xFFFF'FFFF, 0), ELSE},
      {0s, client(1, kAck, 0, 0).payload(10), ELSE},
      {0s, client(1, kFin | kAck, 10, 0), ELSE},
      {0s, server(1, kFin | kAck, 0, 11), ELSE},
      {0s, syn(2), PASS}}},

    {"what a rule drops keeps nothing open and closes nothing",
     ONE "  - {id: no-rst, mode: enforce, when: tcp.flags.rst, on_match: drop}\n",
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {30s, client(1, kRst, kMine + 1, 0), "drop", "deny_rule", "no-rst"},
      {30s, syn(2), WAITS(30s)}}},

    {"a SYN that another limit refuses opens nothing",
     RULE "    limits:\n      - {algorithm: concurrency, count: 1, idle: 1m}\n"
          "      - {algorithm: fixed_window, count: 1, window: 10s, per: connection}\n",
     {{0s, syn(1), PASS},
      {0s, server(1, kRst | kAck, 0, kMine + 1), ELSE},
      {0s, syn(2), WAITS(10s)},
      {10s, syn(3), PASS}}},

    {"IPv6, and other ports between the same hosts",
     RULE "    limits: [{algorithm: concurrency, count: 1, idle: 5s}]\n",
     {{0s, tcp().src("2001:db8::1").dst("2001:db8::2").sport(9).dport(80).flags(kSyn).seq(1), PASS},
      {0s, tcp().src("2001:db8::1").dst("2001:db8::2").sport(8).dport(80).flags(kSyn).seq(1),
       WAITS(5s)},
      {1s,
       tcp()
           .src("2001:db8::2")
           .dst("2001:db8::1")
           .sport(80)
           .dport(9)
           .flags(kRst | kAck)
           .ack(2)
           .from_inside(),
       ELSE},
      {1s, tcp().src("2001:db8::1").dst("2001:db8::2").sport(8).dport(80).flags(kSyn).seq(1),
       PASS}}},

    {"a key's own count, and of a candidate the rule goes by nothing",
     ONE "    overrides: {inline: [{key: [10.0.0.1], limits: {\"1\": {count: 2}}}]}\n"
         "    candidates: [{name: five, limits: {\"1\": {count: 5}}}]\n",
     {{0s, syn(1), PASS}, {0s, syn(2), PASS}, {0s, syn(3), WAITS(1min)}}},
};

class Concurrency : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Table, Concurrency, testing::ValuesIn(kCases),
                         [](const auto& row) { return "Row" + std::to_string(row.index); });

TEST_P(Concurrency, Decides) {
    test::expect_case(GetParam());
}

}  // namespace
}  // namespace sluice::concurrency_cases_test

#undef RULE
#undef ONE
#undef TWO
#undef PASS
#undef ELSE
#undef WAITS
