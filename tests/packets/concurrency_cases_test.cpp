#include "tests/packets/answering_box.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// Options of TCP: a signature (RFC 2385), one that is longer than the header, timestamps; of IP: a
// loose source route.
const test::Octets kSigned = test::from_hex("131200112233445566778899aabbccddeeff0101");
const test::Octets kCutShort = test::from_hex("0101131f");
const test::Octets kStamped = test::from_hex("0101080a0000000100000002");
const test::Octets kSourceRoute = test::from_hex(
    "8307040a090909"
    "00");
// A Multipath TCP reset (RFC 8684, 3.6), SACK, a user timeout, and a kind that nobody knows.
const test::Octets kOfMultipath = test::from_hex("1e048000");
const test::Octets kSacked = test::from_hex("0101050a0000000100000002");
const test::Octets kOfUserTimeout = test::from_hex("1c040001");
const test::Octets kUnknownKind = test::from_hex("fd040000");

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
#define FROM_ESTABLISHED \
    RULE "    limits: [{algorithm: concurrency, count: 1, idle: 1m, from: established}]\n"
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

    {"so does an RST behind its data, once the server has acknowledged it",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(100), ELSE},
      {0s, client(1, kRst, kMine + 51, 0), ELSE},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, client(1, kRst, kMine + 101, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, server(1, kAck, kYours + 1, kMine + 101), ELSE},
      {0s, client(1, kRst, kMine + 101, 0), ELSE},
      {0s, syn(2), PASS}}},

    // A server that has taken a byte drops an RST before it, and one that dropped the byte drops
    // one behind it.
    {"or an RST at the number that it acknowledges, two seconds later",
     TWO,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(1), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1).payload(1), ELSE},
      {1999ms, client(1, kRst, kMine + 1, 0), ELSE},
      {1999ms, client(2, kRst, kMine + 2, 0), ELSE},
      {1999ms, syn(3), WAITS(58'001ms)},
      {2s, client(1, kRst, kMine + 1, 0), ELSE},
      {2s, client(2, kRst, kMine + 2, 0), ELSE},
      {2s, syn(3), PASS},
      {2s, syn(4), WAITS(58s)},
      {2s, client(2, kRst, kMine + 1, 0), ELSE},
      {2s, syn(4), PASS}}},

    {"a server that takes the data of a SYN drops an RST before it",
     ONE,
     {{0s, syn(1).payload(1), PASS},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {2s, client(1, kRst, kMine + 1, 0), ELSE},
      {2s, syn(2), PASS}}},

    {"where the server is never heard of, an RST stands behind what has passed",
     ONE,
     {{0s, syn(1), PASS},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(10), ELSE},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 11, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"an RST that its receiver may drop for its options ends nothing",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(1), ELSE},
      {0s, server(1, kAck, kYours + 1, kMine + 2), ELSE},
      {0s, client(1, kRst, kMine + 2, 0).tcp_options(kSigned), ELSE},
      {0s, client(1, kRst, kMine + 2, 0).options(kSourceRoute), ELSE},
      {0s, client(1, kRst, kMine + 2, 0).tcp_options(kCutShort), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 2, 0).tcp_options(kStamped), ELSE},
      {0s, syn(2), PASS}}},

    {"nor does such a FIN, which may arrive",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(1, kFin | kAck, kMine + 1, kYours + 1).options(kSourceRoute), ELSE},
      {0s, server(1, kFin | kAck, kYours + 1, kMine + 1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 2), ELSE},
      {0s, syn(2), WAITS(1min)}}},

    {"an RST with options that every host takes ends it",
     ONE,
     {{0s, syn(1), PASS},
      {0s, client(1, kRst, kMine + 1, 0).tcp_options(kOfMultipath), ELSE},
      {0s, syn(2), PASS},
      {0s, client(2, kRst, kMine + 1, 0).tcp_options(kSacked), ELSE},
      {0s, syn(3), PASS},
      {0s, client(3, kRst, kMine + 1, 0).tcp_options(kOfUserTimeout), ELSE},
      {0s, syn(4), PASS},
      {0s, client(4, kRst, kMine + 1, 0).tcp_options(kUnknownKind), ELSE},
      {0s, syn(5), PASS}}},

    {"an RST with timestamps ends what its server is not seen to answer",
     ONE,
     {{0s, syn(1), PASS},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(8), ELSE},
      {0s, client(1, kRst, kMine + 9, 0).tcp_options(kStamped), ELSE},
      {0s, syn(2), PASS}}},

    // Its server may drop it for a timestamp that is older than the SYN's.
    {"before the handshake is complete an RST with timestamps ends nothing",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kRst, kMine + 1, 0).tcp_options(kStamped), ELSE},
      {2s, client(1, kRst, kMine + 1, 0).tcp_options(kStamped), ELSE},
      {2s, syn(2), WAITS(58s)},
      {2s, client(1, kRst, kMine + 1, 0), ELSE},
      {2s, syn(2), PASS},
      {2s, syn_ack(2), ELSE},
      {2s, client(2, kAck, kMine + 1, kYours + 1), ELSE},
      {2s, client(2, kRst, kMine + 1, 0).tcp_options(kStamped), ELSE},
      {2s, syn(3), PASS}}},

    {"nor where connections count from the handshake on",
     FROM_ESTABLISHED,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kRst, kMine + 1, 0).tcp_options(kStamped), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), PASS},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1), WAITS(1min)}}},

    // Its window may have been as wide.
    {"a server takes bytes whose acknowledgment is an old one",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, server(1, kAck, kYours + 1 + (2U << 20), kMine + 1).payload(9), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 10 + (2U << 20)), ELSE},
      {0s, client(1, kAck, kMine + 2, kYours + 1).payload(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(1), ELSE},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), WAITS(1min)}}},

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

    {"a connection whose handshake is not complete leaves sooner",
     RULE "    limits: [{algorithm: concurrency, count: 1, idle: 15m, half_open: 10s}]\n",
     {{0s, syn(1), PASS},
      {1s, syn(2), WAITS(9s)},
      {4s, syn_ack(1), ELSE},
      {10s, syn(2), WAITS(4s)},
      {14s, syn(2), PASS},
      {14s, server(2, kSyn | kAck, kYours, kMine + 1), ELSE},
      {14s, client(2, kAck, kMine + 1, kYours), ELSE},
      {14s, syn(3), WAITS(10s)},
      {15s, client(2, kAck, kMine + 1, kYours + 1), ELSE},
      {15s, syn(3), WAITS(15min)},
      {15min + 15s, syn(3), PASS}}},

    {"a minute is usual",
     RULE "    limits: [{algorithm: concurrency, count: 1, idle: 15m}]\n",
     {{0s, syn(1), PASS}, {1s, syn(2), WAITS(59s)}, {60s, syn(2), PASS}}},

    {"a FIN that came before a lost segment counts once that has come",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(1, kFin | kAck, kMine + 101, kYours + 1), ELSE},
      {0s, server(1, kFin | kAck, kYours + 1, kMine + 1), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kAck, kMine + 1, kYours + 2).payload(100), ELSE},
      {0s, syn(2), PASS}}},

    {"or once all has been acknowledged, whatever came in which order",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(1, kFin | kAck, kMine + 101, kYours + 1).payload(50), ELSE},
      {0s, client(1, kAck, kMine + 51, kYours + 1).payload(50), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(50), ELSE},
      {0s, server(1, kFin | kAck, kYours + 1, kMine + 1), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, server(1, kAck, kYours + 2, kMine + 152), ELSE},
      {0s, syn(2), PASS}}},

    // A sender that knows the ends and not the numbers touches neither the client's end nor its
    // place.
    {"a blind sender ends nothing, and keeps nothing open",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {10s, client(1, kRst, kMine + 2, 0), ELSE},
      {10s, client(1, kRst | kAck, 0x9000'0000, 77), ELSE},
      {10s, client(1, kFin | kAck, 0x9000'0000, 77), ELSE},
      {10s, client(1, kFin | kAck, kMine + 1, 0x8000'0000), ELSE},
      {10s, client(1, kAck, 0x9000'0000, 0x8000'0000).payload(100), ELSE},
      {10s, client(1, kAck, kMine + 1, 0x7000'0000).payload(100), ELSE},
      {20s, syn(2), WAITS(40s)},
      {20s, client(1, kFin | kAck, kMine + 1, kYours + 1), ELSE},
      {20s, server(1, kFin | kAck, kYours + 1, kMine + 2), ELSE},
      {20s, syn(2), PASS}}},

    {"forged segments move no number: a RST behind them is still the client's own",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(1, kAck, kMine + 1, 0x7000'0000).payload(100), ELSE},
      {0s, client(1, kRst, kMine + 101, 0), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"what may not reach the server ends nothing: a short TTL, fragments",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(1, kRst, kMine + 1, 0).ttl(31), ELSE},
      {0s, client(1, kRst, kMine + 1, 0).frag(0, true), ELSE},
      {0s, syn(2), WAITS(1min)},
      {0s, client(1, kRst, kMine + 1, 0).ttl(32), ELSE},
      {0s, syn(2), PASS}}},

    // A fragment waits for the others for as long (RFC 8200, 4.5).
    {"bytes that may reach the server leave it open behind an RST, until they do or never will",
     RULE "    limits: [{algorithm: concurrency, count: 2, idle: 15m}]\n",
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1), ELSE},
      {1s, client(1, kAck, kMine + 1, kYours + 1).payload(100).ttl(3), ELSE},
      {1s, client(2, kAck, kMine + 1, kYours + 1).payload(8).frag(0, true), ELSE},
      {1s, client(1, kRst, kMine + 1, 0), ELSE},
      {1s, client(1, kRst, kMine + 101, 0), ELSE},
      {62s, client(2, kRst, kMine + 1, 0), ELSE},
      {62s, syn(3), WAITS(15min - 61s)},
      {63s, client(1, kRst, kMine + 1, 0), ELSE},
      {63s, client(2, kRst, kMine + 1, 0), ELSE},
      {63s, syn(3), PASS},
      {63s, syn(4), PASS}}},

    {"bytes that may not reach the server complete a handshake once it has acknowledged them",
     RULE "    limits: [{algorithm: concurrency, count: 1, idle: 15m}]\n",
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(8).ttl(31), ELSE},
      {1s, syn(2), WAITS(59s)},
      {2s, server(1, kAck, kYours + 1, kMine + 1), ELSE},
      {2s, syn(2), WAITS(60s)},
      {3s, server(1, kAck, kYours + 1, kMine + 9), ELSE},
      {3s, syn(2), WAITS(15min)}}},

    {"an acknowledgement with a SYN, or of the SYN alone, completes none",
     RULE "    limits: [{algorithm: concurrency, count: 1, idle: 15m}]\n",
     {{0s, syn(1).payload(8), PASS},
      {0s, server(1, kSyn | kAck, kYours, kMine + 9), ELSE},
      {1s, server(1, kAck, kYours + 1, kMine + 9), ELSE},
      {1s, syn(2), WAITS(60s)}}},

    {"data of the SYN that the server acknowledges with it",
     ONE,
     {{0s, syn(1).payload(10), PASS},
      {0s, server(1, kSyn | kAck, kYours, kMine + 11), ELSE},
      {0s, server(1, kRst, kYours + 1, 0), ELSE},
      {0s, syn(2), PASS}}},

    {"a SYN-ACK that comes again, after another SYN, begins nothing anew",
     ONE,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1).payload(100), ELSE},
      {0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kRst, kMine + 1, 0), ELSE},
      {0s, server(1, kAck, kYours + 1, kMine + 101), ELSE},
      {0s, client(1, kRst, kMine + 101, 0), ELSE},
      {0s, syn(2), PASS}}},

    // Counted from the handshake on.
    {"the ACK that completes the handshake is admitted or refused, and a SYN never",
     FROM_ESTABLISHED,
     {{0s, syn(1), PASS},
      {0s, syn(2), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, syn_ack(2), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), PASS},
      {1s, client(2, kAck, kMine + 1, kYours + 1), WAITS(59s)},
      {2s, client(2, kAck, kMine + 1, kYours + 1).payload(9), WAITS(58s)},
      {2s, syn(3), PASS},
      {2s, client(1, kRst, kMine + 1, 0), ELSE},
      {3s, client(2, kAck, kMine + 1, kYours + 1).payload(9), PASS},
      {3s, client(2, kAck, kMine + 10, kYours + 1).payload(9), ELSE},
      {4s, server(3, kSyn | kAck, kYours, kMine + 1), ELSE},
      {4s, client(3, kAck, kMine + 1, kYours + 1), WAITS(59s)}}},

    {"an ACK of another number completes nothing, nor one before the server's SYN-ACK",
     FROM_ESTABLISHED,
     {{0s, syn(1), PASS},
      {0s, client(1, kAck, kMine + 1, kYours + 1), ELSE},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 2), ELSE},
      {0s, client(1, kAck, kMine + 0x9000'0000, kYours + 1), ELSE},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1), PASS},
      {0s, client(1, kAck, kMine + 1, kYours + 1), WAITS(1min)}}},

    {"a SYN on a living connection changes nothing until the server takes it",
     FROM_ESTABLISHED,
     {{0s, syn(1), PASS},
      {0s, syn_ack(1), ELSE},
      {0s, client(1, kAck, kMine + 1, kYours + 1), PASS},
      {0s, syn(1, 70'000), PASS},
      {0s, syn(2), PASS},
      {0s, syn_ack(2), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1), WAITS(1min)},
      {0s, server(1, kSyn | kAck, 0x4000'0000, 70'001), ELSE},
      {0s, client(2, kAck, kMine + 1, kYours + 1), PASS},
      {0s, client(1, kAck, 70'001, 0x4000'0001), WAITS(1min)}}},

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

constexpr std::string_view kOne = ONE;
constexpr std::string_view kFromEstablished = FROM_ESTABLISHED;

// Packets that are right one by one, of one connection in one burst.
std::vector<Reason> reasons_in_burst(test::Box& box, const std::vector<Frame>& frames) {
    std::vector<test::Octets> bytes;
    for (const Frame& frame : frames) {
        bytes.push_back(frame.bytes());
    }
    const auto burst = std::make_unique<Burst>();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        test::arrive(*burst, bytes[i], nullptr, frames[i].dir());
    }
    box.run(*burst, kStart);
    std::vector<Reason> reasons;
    for (const Packet& packet : burst->packets()) {
        reasons.push_back(packet.decision.reason);
    }
    return reasons;
}

TEST(ConcurrencyFromEstablished, HandshakesInOneBurst) {
    test::Box box{kFromEstablished};
    const auto complete = [](std::uint16_t port) {
        return client(port, kAck, kMine + 1, kYours + 1);
    };
    EXPECT_EQ(reasons_in_burst(box, {syn(1), syn_ack(1), syn(2), complete(1), syn_ack(2),
                                     complete(2), complete(2).payload(9)}),
              (std::vector{Reason::WithinLimits, Reason::Unmatched, Reason::WithinLimits,
                           Reason::WithinLimits, Reason::Unmatched, Reason::OverLimit,
                           Reason::OverLimit}));
}

// 50 places, and 5,000 SYNs in a client's name: it is served all the same.
TEST(ConcurrencyFromEstablished, ForgedSynsLockNobodyOut) {
    test::Box box{RULE
                  "    limits: [{algorithm: concurrency, count: 50, idle: 15m, from: "
                  "established}]\n",
                  {},
                  std::size_t{1} << 15};
    for (std::uint16_t port = 1; port <= 5000; ++port) {
        EXPECT_EQ(box.judge(syn(port, 77U * port), kStart).reason, Reason::WithinLimits);
    }
    int served = 0;
    for (std::uint16_t port = 10'001; port <= 10'060; ++port) {
        (void)box.judge(syn(port), kStart);
        (void)box.judge(syn_ack(port), kStart);
        served += box.judge(client(port, kAck, kMine + 1, kYours + 1), kStart).reason ==
                          Reason::WithinLimits
                      ? 1
                      : 0;
    }
    EXPECT_EQ(served, 50) << "and counts what is really open";
}

// A flood of forged SYNs against a limit from the SYN on: what half_open is for.
TEST(ConcurrencyFromSyn, ForgedSynsHoldTheirPlacesForAMinute) {
    test::Box box{RULE "    limits: [{algorithm: concurrency, count: 50, idle: 15m}]\n"};
    for (std::uint16_t port = 1; port <= 50; ++port) {
        (void)box.judge(syn(port), kStart);
    }
    EXPECT_EQ(box.judge(syn(51), kStart + 59s).reason, Reason::OverLimit);
    EXPECT_EQ(box.judge(syn(51), kStart + 60s).reason, Reason::WithinLimits);
}

// Enough frames of either side come right that checksums are verified from then on.
void show_right_checksums(test::Box& box) {
    for (std::uint32_t i = 0; i < PortChecksums::kEnough; ++i) {
        (void)box.judge(syn(1).summed(), kStart);
        (void)box.judge(syn_ack(1).summed(), kStart);
        (void)box.judge(client(1, kRst, kMine + 1).summed(), kStart);
    }
}

class ConcurrencyChecksums : public testing::Test {
protected:
    static constexpr std::uint16_t kWrong = 1;

    ConcurrencyChecksums() { show_right_checksums(box_); }

    void open(std::uint16_t port) {
        EXPECT_EQ(judge(syn(port)), Reason::WithinLimits);
        (void)judge(syn_ack(port));
        (void)judge(client(port, kAck, kMine + 1, kYours + 1));
    }
    Reason judge(Frame frame, std::uint16_t off_by = 0) {
        return box_.judge(frame.summed(off_by), kStart).reason;
    }
    bool is_open() { return judge(syn(60'000)) == Reason::OverLimit; }

    test::Box box_{kOne};
};

TEST_F(ConcurrencyChecksums, WrongOnesEndNothing) {
    open(1);
    (void)judge(client(1, kRst, kMine + 1), kWrong);
    (void)judge(server(1, kRst, kYours + 1, 0), kWrong);
    EXPECT_TRUE(is_open());
    (void)judge(client(1, kFin | kAck, kMine + 1, kYours + 1), kWrong);
    (void)judge(server(1, kFin | kAck, kYours + 1, kMine + 1));
    EXPECT_TRUE(is_open());
    // Data that the server does not take moves nothing either.
    (void)judge(client(1, kAck, kMine + 1, kYours + 2).payload(101), kWrong);
    (void)judge(client(1, kRst, kMine + 102));
    EXPECT_TRUE(is_open());
    (void)judge(client(1, kRst, kMine + 1));
    EXPECT_FALSE(is_open());
}

TEST_F(ConcurrencyChecksums, AreRightOfEverySizeAndVersion) {
    for (const std::size_t size : {1U, 2U, 99U, 1400U}) {
        open(1);
        (void)judge(client(1, kFin | kAck, kMine + 1, kYours + 1).payload(size));
        (void)judge(server(1, kFin | kAck, kYours + 1, kMine + 2).pad(7).vlan(5));
        EXPECT_TRUE(is_open()) << "that is another connection";
        (void)judge(server(1, kFin | kAck, kYours + 1, kMine + 2).pad(7));
        EXPECT_FALSE(is_open()) << size;
        (void)judge(server(60'000, kRst | kAck, 0, kMine + 1));
    }
    const auto v6 = [](std::uint16_t flags, std::uint32_t seq) {
        return tcp().src("2001:db8::1").dst("2001:db8::2").sport(9).dport(80).flags(flags).seq(seq);
    };
    EXPECT_EQ(judge(v6(kSyn, 5)), Reason::WithinLimits);
    (void)judge(v6(kRst, 6), kWrong);
    EXPECT_EQ(judge(v6(kSyn, 5).sport(8)), Reason::OverLimit);
    (void)judge(v6(kRst, 6));
    EXPECT_EQ(judge(v6(kSyn, 5).sport(8)), Reason::WithinLimits);
}

// A side whose senders leave checksums to their hardware has none that is right.
TEST(ConcurrencyChecksum, IsVerifiedOnceASidesFramesCameRight) {
    test::Box box{kOne};
    const auto ends_by_wrong_sum = [&] {
        (void)box.judge(syn(1).summed(), kStart);
        (void)box.judge(client(1, kRst, kMine + 1).summed(1), kStart);
        const bool ended = box.judge(syn(2).summed(), kStart).reason == Reason::WithinLimits;
        (void)box.judge(client(ended ? 2 : 1, kRst, kMine + 1).summed(), kStart);
        return ended;
    };
    EXPECT_TRUE(ends_by_wrong_sum());
    show_right_checksums(box);
    EXPECT_FALSE(ends_by_wrong_sum());
}

TEST(ConcurrencyChecksum, OfACutFrameIsBelievedInACaptureAlone) {
    for (const bool captured : {true, false}) {
        test::Box box{kOne, {.captured = captured}};
        show_right_checksums(box);
        (void)box.judge(syn(1).summed(), kStart);
        (void)box.judge(syn_ack(1).summed(), kStart);
        (void)box.judge(client(1, kAck, kMine + 1, kYours + 1).summed(), kStart);
        const test::Octets fin =
            client(1, kFin | kAck, kMine + 1, kYours + 1).payload(900).summed().bytes();
        (void)box.judge({ByteView{fin}.first(100), static_cast<std::uint32_t>(fin.size())}, kStart);
        (void)box.judge(server(1, kFin | kAck, kYours + 1, kMine + 1).summed(), kStart);
        EXPECT_EQ(box.judge(syn(2).summed(), kStart).reason,
                  captured ? Reason::WithinLimits : Reason::OverLimit);
    }
}

// Connections that the box ends itself are open no more.
TEST(ConcurrencyAnswers, EndTheirConnections) {
    struct Row {
        const char* action;
        const char* last;
    };
    for (const Row& row : {Row{"reply", "reply over_limit"}, Row{"reset", "reset over_limit"},
                           Row{"\"decoy\"", "decoy over_limit"}, Row{"drop", "drop over_limit"}}) {
        SCOPED_TRACE(row.action);
        test::AnsweringBox box{std::string{ONE} +
                               "  - {id: q, mode: enforce, key: [], per: request,\n"
                               "     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}],\n"
                               "     on_exceed: {action: " +
                               row.action + "}}\n"};
        const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        const Frame request = client(1, kAck, kMine + 1, kYours + 1).carries(test::octets_of(text));
        const auto take = [&](Frame frame) { return box.take(frame, frame.dir(), kStart).back(); };
        const auto other = [](Frame frame) { return frame.src("10.0.0.3"); };
        (void)take(other(syn(1)));
        EXPECT_EQ(take(other(request)), "pass within_limits");
        (void)take(syn(1));
        (void)take(syn_ack(1));
        (void)take(client(1, kAck, kMine + 1, kYours + 1));
        EXPECT_EQ(take(syn(2)), "drop over_limit");
        EXPECT_EQ(take(request), row.last);
        const bool is_ended = std::string_view{row.action} != "drop";
        EXPECT_EQ(take(syn(2)), is_ended ? "pass within_limits" : "drop over_limit");
    }
}

// A RST toward a server that does not expect its number is a challenge there, and no end.
TEST(ConcurrencyAnswers, OfNoNumberThatTheServerExpectsEndNothing) {
    test::AnsweringBox box{std::string{ONE} +
                           "  - {id: q, mode: enforce, when: ip.ttl eq 99, key: [],\n"
                           "     limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}],\n"
                           "     on_exceed: {action: reset}}\n"};
    const auto take = [&](Frame frame) { return box.take(frame, frame.dir(), kStart).back(); };
    const auto data = [](std::uint32_t at) {
        return client(1, kAck, kMine + 1 + at, kYours + 1).payload(9).ttl(99);
    };
    (void)take(syn(1));
    (void)take(syn_ack(1));
    EXPECT_EQ(take(data(0)), "pass within_limits");
    EXPECT_EQ(take(data(50'000)), "reset over_limit");
    EXPECT_EQ(take(syn(2)), "drop over_limit");
    EXPECT_EQ(take(data(9)), "reset over_limit");
    EXPECT_EQ(take(syn(2)), "pass within_limits");
}

}  // namespace
}  // namespace sluice::concurrency_cases_test

#undef RULE
#undef ONE
#undef TWO
#undef FROM_ESTABLISHED
#undef PASS
#undef ELSE
#undef WAITS
