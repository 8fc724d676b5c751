#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"

#include <gtest/gtest.h>

// ClientHellos of TLS and of QUIC, and DNS over TCP, from the wire to a verdict.
namespace sluice::hello_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::HelloMaker;
using test::kStart;
using test::Octets;
using test::quic_hello;
using test::quic_initial;
using test::quic_part;

constexpr std::uint32_t kFirst = 1000;  // where the connections here begin

Frame tls(const Octets& bytes, std::uint32_t at = 0) {
    return test::tcp().src("10.0.0.1").sport(40'000).dport(443).seq(kFirst + at).carries(bytes);
}
Octets hello(std::string_view name) {
    return HelloMaker{}.sni(name).alpn({"h2"}).records();
}
std::uint32_t size_of(const Octets& bytes) {
    return static_cast<std::uint32_t>(bytes.size());
}
Octets part(const Octets& bytes, std::size_t from, std::size_t to) {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
            bytes.begin() + static_cast<std::ptrdiff_t>(std::min(to, bytes.size()))};
}
Frame quic(const test::InitialMaker& initial) {
    return test::udp().src("10.0.0.1").sport(40'000).dport(443).carries(initial.packet());
}
// A server's long header, which comes in outside; 0xC0 begins an Initial of version 1, 0xF0 a
// Retry.
Frame forged_answer(unsigned first) {
    Octets packet = test::from_hex("00000000010461616161046262626200");
    packet.resize(1200);
    packet[0] = static_cast<std::byte>(first);
    return test::udp().src("198.51.100.1").dst("10.0.0.1").sport(443).dport(40'000).carries(packet);
}
Frame quic_answer(unsigned first) {
    return forged_answer(first).from_inside();
}
Frame query(std::string_view name, std::uint32_t at = 0) {
    const std::string message = test::dns_query(name);
    return test::tcp()
        .src("10.0.0.1")
        .sport(40'000)
        .dport(53)
        .seq(kFirst + at)
        .carries(test::message_octets(test::be16_text(static_cast<std::uint16_t>(message.size())) +
                                      message));
}

#define HEAD "version: 1\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define WATCH(id, rest) "  - {id: " id ", mode: monitor, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY_SNI HEAD RULE("names", "key: [tls.sni], per: handshake, " ONE)
#define BY_QUIC_SNI HEAD RULE("names", "key: [quic.sni], per: handshake, " ONE)

#define QUIC_SERVICE(path)                                                                       \
    "version: 1\nservices:\n  - {id: h3, protocol: quic, when: l4.dport eq 443, mode: enforce, " \
    "path: " path "}\nrules:\n" RULE("names", "key: [quic.sni], per: handshake, " ONE)

const Octets kMalformed = HelloMaker{}.ciphers({}).records();
const Octets kHello = hello("a.example");
const Octets kQuicHello = quic_hello("a.example");

// Where bytes of a second hello lie, in the CRYPTO stream of the connection of `a.example`, under
// the id that its server has chosen.
Frame quic_behind(const Octets& hello) {
    return quic(test::InitialMaker{}
                    .dcid(test::quic_id(0xBEEF))
                    .keys_of(test::quic_id(1))
                    .number(3, 1)
                    .carries(test::crypto(kQuicHello.size(), hello))
                    .padded_to(test::kInitialPayload));
}

const Case kCases[] = {
    {"a malformed hello is TLS all the same",
     DENY("proto.l7 eq \"tls\""),
     {{0ms, tls(kMalformed), "drop", "deny_rule", "d"}}},

    {"and passes where no rule does",
     DENY("proto.l7 eq \"http\""),
     {{0ms, tls(kMalformed), "pass", "unmatched"}, {0ms, tls(kMalformed), "pass", "unmatched"}}},

    {"hellos are limited by name, whatever its case",
     BY_SNI,
     {{0ms, tls(hello("a.example")), "pass", "within_limits"},
      {0ms, tls(hello("A.Example")).sport(2), "drop", "over_limit", "names", 1000ms},
      {0ms, tls(hello("b.example")).sport(3), "pass", "within_limits"},
      {1000ms, tls(hello("a.example")).sport(4), "pass", "within_limits"}}},

    {"an address in the place of a name has one text, and is no host's",
     BY_SNI RULE("lower", "when: 'tls.sni eq \"2001\" or tls.sni eq \"db\"', on_match: drop"),
     {{0ms, tls(hello("2001:db8::1")), "pass", "within_limits"},
      {0ms, tls(hello("2001:DB8:0::0:1")).sport(2), "drop", "over_limit", "names", 1000ms},
      {0ms, tls(hello("192.0.2.1")).sport(3), "pass", "within_limits"}}},

    {"a hello is judged at the segment that completes it, and once",
     BY_SNI,
     {{0ms, tls(part(kHello, 0, 20)), "pass", "unmatched"},
      {0ms, tls(part(kHello, 20, 60), 20), "pass", "unmatched"},
      {0ms, tls(part(kHello, 20, 60), 20), "pass", "unmatched"},
      {0ms, tls(part(kHello, 60, 999), 60), "pass", "within_limits"},
      {0ms, tls(part(kHello, 60, 999), 60), "pass", "unmatched"},
      {0ms, tls(kHello), "pass", "unmatched"},
      {0ms, tls(kHello).sport(2), "drop", "over_limit", "names", 1000ms}}},

    {"a refused hello is refused again, and never charged for it",
     BY_SNI,
     {{0ms, tls(kHello).sport(2), "pass", "within_limits"},
      {0ms, tls(kHello), "drop", "over_limit", "names", 1000ms},
      {5000ms, tls(kHello), "drop", "retransmission"},
      {5000ms, tls(kHello).sport(3), "pass", "within_limits"}}},

    {"segments of a hello in the wrong order complete it at the last",
     BY_SNI,
     {{0ms, tls({}).flags(0x02).seq(kFirst - 1), "pass", "unmatched"},
      {0ms, tls(part(kHello, 0, 20)), "pass", "unmatched"},
      {0ms, tls(part(kHello, 60, 999), 60), "pass", "unmatched"},
      {0ms, tls(part(kHello, 20, 60), 20), "pass", "within_limits"},
      {0ms, tls(kHello).sport(2), "drop", "over_limit", "names", 1000ms}}},

    {"the second hello of a connection is no handshake, and conditions see it",
     HEAD RULE("bad", "when: 'tls.sni eq \"bad.example\"', on_match: drop")
         RULE("all", "key: [], per: handshake, " ONE),
     {{0ms, tls(kHello), "pass", "within_limits"},
      {0ms, tls(kHello, size_of(kHello)), "pass", "unmatched"},
      {0ms, tls(kHello).sport(2), "drop", "over_limit", "all", 1000ms},
      {1000ms, tls(kHello).sport(3), "pass", "within_limits"},
      {1000ms, tls(hello("bad.example"), size_of(kHello)).sport(3), "drop", "deny_rule", "bad"}}},

    {"a second hello for another name is charged to that name",
     BY_SNI,
     {{0ms, tls(kHello), "pass", "within_limits"},
      {0ms, tls(hello("b.example"), size_of(kHello)), "pass", "within_limits"},
      {0ms, tls(hello("c.example")).sport(2), "pass", "within_limits"},
      {0ms, tls(hello("b.example"), size_of(hello("c.example"))).sport(2), "drop", "over_limit",
       "names", 1000ms}}},

    {"a malformed hello passes where no service is declared, and nothing behind it is read",
     DENY("tls.sni eq \"bad.example\""),
     {{0ms, tls(kMalformed), "pass", "unmatched"},
      {0ms, tls(kMalformed), "pass", "unmatched"},
      {0ms, tls(hello("bad.example"), size_of(kMalformed)), "pass", "unmatched"},
      {0ms, tls(kHello).sport(2), "pass", "unmatched"}}},

    {"and is no handshake",
     HEAD RULE("all", "key: [], per: handshake, " ONE),
     {{0ms, tls(kMalformed), "pass", "unmatched"},
      {0ms, tls(kHello).sport(2), "pass", "within_limits"},
      {0ms, tls(kMalformed).sport(3), "pass", "unmatched"}}},

    {"a rule that only watches drops nothing",
     HEAD WATCH("names", "key: [tls.sni], per: handshake, " ONE),
     {{0ms, tls(kMalformed), "pass", "unmatched"},
      {0ms, tls(kHello).sport(2), "pass", "unmatched"},
      {0ms, tls(kHello).sport(3), "pass", "unmatched"},
      {0ms, quic(quic_part(kQuicHello, 0, 40)), "pass", "unmatched"}}},

    {"conditions over hellos",
     DENY("tls.alpn eq \"h2\" and starts_with(tls.ja4, \"t12d\") and proto.scheme eq \"https\" "
          "and tls.handshake.type eq 1 and proto.l7 eq \"tls\""),
     {{0ms, tls(kHello), "drop", "deny_rule", "d"},
      {0ms, tls(HelloMaker{}.sni("a").alpn({"http/1.1", "h2"}).records()).sport(2), "pass",
       "unmatched"}}},

    {"QUIC hellos are limited by name, once for a connection",
     BY_QUIC_SNI,
     {{0ms, quic(quic_initial("A.example", 1)), "pass", "within_limits"},
      {0ms, quic(quic_initial("A.example", 1).number(1, 1)), "pass", "unmatched"},
      {0ms, quic(quic_initial("a.example", 2)), "drop", "over_limit", "names", 1000ms},
      {5000ms, quic(quic_initial("a.example", 2).number(1, 1)), "drop", "retransmission"},
      {5000ms, quic(quic_initial("a.example", 3)), "pass", "within_limits"}}},

    {"a QUIC hello that its server has answered counts again when it comes again",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, quic(quic_initial("a.example").number(1, 1)), "pass", "unmatched"},
      {20ms, quic_answer(0xF0), "pass", "unmatched"},
      {30ms, quic(quic_initial("a.example").number(2, 1)), "pass", "unmatched"},
      {40ms, quic_answer(0xC0), "pass", "unmatched"},
      {2000ms, quic(quic_initial("a.example").number(3, 1)), "pass", "within_limits"},
      {2010ms, quic(quic_initial("a.example").number(4, 1)), "pass", "unmatched"},
      {2020ms, quic_answer(0xE0), "pass", "unmatched"},
      {2030ms, quic(quic_initial("a.example").number(5, 1)), "drop", "over_limit", "names", 970ms},
      {5000ms, quic(quic_initial("a.example").number(6, 1)), "drop", "retransmission"}}},

    {"a forged answer from outside is none",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, forged_answer(0xC0), "pass", "unmatched"},
      {20ms, quic(quic_initial("a.example").number(1, 1)), "pass", "unmatched"}}},

    {"a QUIC hello in parts that its server has answered counts again when it is whole again",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_part(kQuicHello, 0, 60)), "pass", "unmatched"},
      {0ms, quic(quic_part(kQuicHello, 60, kQuicHello.size())), "pass", "within_limits"},
      {10ms, quic_answer(0xC0), "pass", "unmatched"},
      {2000ms, quic(quic_part(kQuicHello, 0, 50)), "pass", "unmatched"},
      {2010ms, quic_answer(0xC0), "pass", "unmatched"},
      {2020ms, quic(quic_part(kQuicHello, 50, kQuicHello.size(), 0xBEEF).keys_of(test::quic_id(1))),
       "pass", "within_limits"}}},

    {"a second QUIC hello for the same name, behind a HelloRetryRequest, is no handshake",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, quic_answer(0xC0), "pass", "unmatched"},
      {20ms, quic_behind(kQuicHello), "pass", "unmatched"},
      {30ms, quic_behind(kQuicHello), "pass", "unmatched"}}},

    {"one for another name is charged to that name, once",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, quic_answer(0xC0), "pass", "unmatched"},
      {20ms, quic_behind(quic_hello("b.example")), "pass", "within_limits"},
      {20ms, quic_behind(quic_hello("b.example")), "pass", "unmatched"},
      {30ms, quic(quic_initial("b.example", 2)).sport(2), "drop", "over_limit", "names", 990ms}}},

    {"and refused where that has no room",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("b.example", 2)).sport(2), "pass", "within_limits"},
      {0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, quic_answer(0xC0), "pass", "unmatched"},
      {20ms, quic_behind(quic_hello("b.example")), "drop", "over_limit", "names", 980ms},
      {5000ms, quic_behind(quic_hello("b.example")), "drop", "retransmission"}}},

    {"one way a QUIC hello is repeated for ten seconds, four times",
     QUIC_SERVICE("inbound"),
     {{0ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {10ms, quic_answer(0xC0), "pass", "unmatched"},
      {9000ms, quic(quic_initial("a.example")), "pass", "unmatched"},
      {10'010ms, quic(quic_initial("a.example")), "pass", "within_limits"},
      {12'000ms, quic(quic_initial("a.example")), "pass", "unmatched"},
      {12'000ms, quic(quic_initial("a.example")), "pass", "unmatched"},
      {12'000ms, quic(quic_initial("a.example")), "pass", "unmatched"},
      {12'000ms, quic(quic_initial("a.example")), "pass", "unmatched"},
      {12'000ms, quic(quic_initial("a.example")), "pass", "within_limits"}}},

    {"parts of a hello come by one port: servers differ in whether others are of it",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_part(kQuicHello, 0, 40)), "pass", "unmatched"},
      {0ms, quic(quic_part(kQuicHello, 40, kQuicHello.size())).sport(40'001), "drop", "lost_head"},
      {0ms, quic(quic_part(kQuicHello, 40, kQuicHello.size())).src("10.9.9.9"), "drop",
       "lost_head"},
      {0ms, quic(quic_part(kQuicHello, 40, kQuicHello.size())), "pass", "within_limits"},
      {0ms, quic(quic_part(kQuicHello, 40, kQuicHello.size())).sport(40'001), "drop", "lost_head"},
      {10ms, quic(quic_initial("a.example", 2)), "drop", "over_limit", "names", 990ms}}},

    {"nor is the rest taken by another port under the id that the server chose: it is refused",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("b.example", 2)), "pass", "within_limits"},
      {10'000ms, quic(quic_part(kQuicHello, 0, 40)), "pass", "unmatched"},
      {10'010ms,
       quic(quic_part(kQuicHello, 40, kQuicHello.size(), 0xBEEF).keys_of(test::quic_id(1)))
           .sport(40'001),
       "drop", "lost_head"},
      {10'020ms,
       quic(quic_part(kQuicHello, 40, kQuicHello.size(), 0xBEEF).keys_of(test::quic_id(1))), "pass",
       "within_limits"}}},

    {"of no service a server's answer counts for nothing, be another's heard",
     QUIC_SERVICE("both"),
     {{0ms, quic(quic_initial("b.example")), "pass", "within_limits"},
      {10ms, quic(quic_initial("a.example", 2)).dport(8443), "pass", "within_limits"},
      {20ms, quic_answer(0xE0).sport(8443), "pass", "unmatched"},
      {2000ms, quic(quic_initial("a.example", 2)).dport(8443), "pass", "unmatched"},
      {2000ms, quic(quic_initial("c.example", 3)), "pass", "within_limits"},
      {2010ms, quic_answer(0xE0), "pass", "unmatched"},
      {4000ms, quic(quic_initial("c.example", 3)), "pass", "within_limits"}}},

    {"a QUIC hello in two datagrams is judged at the second",
     BY_QUIC_SNI,
     {{0ms, quic(quic_part(kQuicHello, 0, 60)), "pass", "unmatched"},
      {0ms, quic(quic_part(kQuicHello, 0, 60)), "pass", "unmatched"},
      {0ms, quic(quic_part(kQuicHello, 60, kQuicHello.size())), "pass", "within_limits"},
      {0ms, quic(quic_initial("a.example", 2)), "drop", "over_limit", "names", 1000ms}}},

    {"QUIC's name is no tls.sni, and its hello has tls.alpn and tls.ja4",
     HEAD RULE("tcp", "when: 'tls.sni eq \"a.example\"', on_match: drop") RULE(
         "udp", "when: 'tls.alpn eq \"h3\" and starts_with(tls.ja4, \"q13\")', on_match: drop"),
     {{0ms, quic(quic_initial("a.example")), "drop", "deny_rule", "udp"},
      {0ms, tls(kHello), "drop", "deny_rule", "tcp"}}},

    {"the port that a client sends from is no protocol's",
     HEAD RULE("answers", "when: 'dns.qr eq 1', on_match: drop") RULE(
         "names", "when: 'tls.sni eq \"a.example\" or quic.sni eq \"a.example\"', on_match: drop"),
     {{0ms, tls(kHello).sport(53), "drop", "deny_rule", "names"},
      {0ms, quic(quic_initial("a.example")).sport(53), "drop", "deny_rule", "names"}}},

    {"to port 53 as well, where another rule reads DNS",
     DENY("quic.packet_type eq \"initial\"") RULE("queries", "key: [], per: query, " ONE),
     {{0ms, quic(quic_initial("a.example")).dport(53), "drop", "deny_rule", "d"}}},

    {"long headers of QUIC have their fields without a hello",
     DENY("quic.packet_type eq \"initial\" and quic.version eq 1 and quic.token_len eq 0"),
     {{0ms, quic(quic_initial("a.example")), "drop", "deny_rule", "d"},
      {0ms, quic(quic_initial("a.example").token(Octets(9))), "pass", "unmatched"},
      {0ms, quic(quic_initial("a.example").version(kQuicV2)), "pass", "unmatched"},
      {0ms, test::udp().dport(443).carries(Octets(40, std::byte{0x41})), "pass", "unmatched"}}},

    {"queries over TCP are queries",
     HEAD RULE("names", "key: [dns.qname], per: query, " ONE),
     {{0ms, query("a.example"), "pass", "within_limits"},
      {0ms, query("a.example"), "pass", "unmatched"},
      {0ms, query("A.example").sport(2), "drop", "over_limit", "names", 1000ms},
      {1000ms, query("A.example").sport(2), "drop", "retransmission"},
      {1000ms, query("a.example").sport(3), "pass", "within_limits"},
      {1000ms, query("b.example", 29).sport(3), "pass", "within_limits"}}},
};

class HelloCase : public testing::TestWithParam<Case> {};

TEST_P(HelloCase, Holds) {
    UnitParser parser{UnitBudget{}};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_opened_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, HelloCase, testing::ValuesIn(kCases));

// Repeated in the burst that decides it.
TEST(HelloBurst, ARepeatedInitialGoesWhereItsFirstGoes) {
    UnitParser parser{UnitBudget{}};
    test::Box box{BY_QUIC_SNI};
    box.find_units_by(parser.finder());
    const auto decisions = box.judge_burst(
        {quic(quic_initial("a.example", 1)).bytes(), quic(quic_initial("a.example", 2)).bytes(),
         quic(quic_initial("a.example", 1)).bytes(), quic(quic_initial("a.example", 2)).bytes()},
        kStart);
    std::vector<std::string_view> reasons;
    for (const Decision& decision : decisions) {
        reasons.push_back(row_of(decision.reason).name);
    }
    EXPECT_EQ(reasons, (std::vector<std::string_view>{"within_limits", "over_limit", "unmatched",
                                                      "retransmission"}));
}

// A hello that is not read is no handshake, and what follows it goes unread with its connection.
TEST(HelloBurst, WhatFollowsAMalformedHelloGoesUnread) {
    UnitParser parser{UnitBudget{}};
    test::Box box{BY_SNI};
    box.find_units_by(parser.finder());
    box.open(tls(kMalformed), kStart);
    const auto decisions =
        box.judge_burst({tls(kMalformed).bytes(), tls(kHello, size_of(kMalformed)).bytes(),
                         tls(kHello, size_of(kMalformed) + size_of(kHello)).bytes()},
                        kStart);
    ASSERT_EQ(decisions.size(), 3U);
    for (const Decision& decision : decisions) {
        EXPECT_EQ(decision.reason, Reason::Unmatched);
    }
    EXPECT_EQ(parser.connections().of(ConnectionEvent::Unread), 1U);
}

// No server takes an Initial in a datagram of less than 1,200 bytes from a client that is new to
// it, some do of one that they know (RFC 9000, 14.1): nothing of a hello passes a service in one.
TEST(HelloBurst, AnInitialInAShortDatagramIsRefusedByItsService) {
    const Frame shorter = quic(test::InitialMaker{}
                                   .dcid(test::quic_id(1))
                                   .carries(test::crypto(0, kQuicHello))
                                   .padded_to(1000));
    UnitParser parser{UnitBudget{}};
    test::Box box{QUIC_SERVICE("both")};
    box.find_units_by(parser.finder());
    const Decision decision = box.judge(shorter.bytes(), kStart);
    EXPECT_EQ(row_of(decision.reason).name, "unreadable");
    EXPECT_FALSE(forwards(decision.verdict));
    EXPECT_TRUE(forwards(box.judge(quic(quic_initial("a.example")).bytes(), kStart).verdict));
}

// An Initial that cannot be decrypted in time cannot be judged: an enforced service refuses it.
TEST(HelloBurst, InitialsBeyondTheTimeForThemAreRefusedByTheirService) {
    for (const char* const mode : {"enforce", "monitor"}) {
        UnitParser parser{UnitBudget{.quic = {.connections = 8192, .percent = 1}}};
        test::Box box{std::string{"version: 1\nservices:\n  - {id: quic, protocol: quic, when: "
                                  "l4.dport eq 443, mode: "} +
                      mode +
                      "}\nrules:\n  - {id: names, mode: enforce, key: [quic.sni], per: handshake, "
                      "limits: [" TOKENS("1M/s", "1M") "]}\n"};
        box.find_units_by(parser.finder());
        const auto saved = static_cast<unsigned>(OpeningTime::kMostSaved / 100 / kInitialCost);
        for (unsigned id = 0; id < saved + 10; ++id) {
            const Decision decision = box.judge(quic(quic_initial("a", id)).bytes(), kStart);
            const bool over = id >= saved && std::string_view{mode} == "enforce";
            EXPECT_EQ(row_of(decision.reason).name == "initial_budget", over) << id;
            EXPECT_EQ(forwards(decision.verdict), !over);
        }
        EXPECT_EQ(box.counters()
                      .by_unit_event[static_cast<std::size_t>(UnitEvent::QuicOverBudget)]
                      .read(),
                  10U);
    }
}

// A part that would be refused goes on, and the hello stays with the path that began it.
TEST(HelloBurst, AServiceThatMonitorsCountsEveryPartByAnotherPath) {
    UnitParser parser{UnitBudget{}};
    test::Box box{
        "version: 1\nservices:\n  - {id: h3, protocol: quic, when: l4.dport eq 443, mode: monitor"
        "}\nrules:\n" RULE("names", "key: [quic.sni], per: handshake, " ONE)};
    box.find_units_by(parser.finder());
    const auto sends = [&](std::size_t from, std::size_t to, std::uint16_t port) {
        (void)box.judge(quic(quic_part(kQuicHello, from, to)).sport(port).bytes(), kStart);
        return box.counters().would_refuse[static_cast<std::size_t>(Reason::LostHead)].read();
    };
    EXPECT_EQ(sends(0, 40, 1), 0U);
    EXPECT_EQ(sends(40, kQuicHello.size(), 1), 0U);
    EXPECT_EQ(sends(0, 40, 2), 1U) << "of a hello that was whole elsewhere";
    EXPECT_EQ(sends(40, 60, 1), 2U);
    EXPECT_EQ(sends(60, 80, 1), 3U);
    EXPECT_EQ(sends(80, kQuicHello.size(), 1), 4U);
}

TEST(HelloBurst, ElsewhereInitialsBeyondTheTimeForThemPass) {
    UnitParser parser{UnitBudget{.quic = {.connections = 8192, .percent = 1}}};
    test::Box box{BY_QUIC_SNI};
    box.find_units_by(parser.finder());
    const auto saved = static_cast<unsigned>(OpeningTime::kMostSaved / 100 / kInitialCost);
    for (unsigned id = 0; id < saved + 10; ++id) {
        const Decision decision =
            box.judge(quic(quic_initial(std::to_string(id), id)).bytes(), kStart);
        EXPECT_EQ(row_of(decision.reason).name, id < saved ? "within_limits" : "unmatched") << id;
        EXPECT_TRUE(forwards(decision.verdict));
    }
    EXPECT_EQ(
        box.counters().by_unit_event[static_cast<std::size_t>(UnitEvent::QuicOverBudget)].read(),
        10U);
}

// A response of several in one segment is matched as any other.
TEST(DnsOverTcpCases, EachAnswerOfASegmentIsMatched) {
    UnitParser parser{UnitBudget{}};
    test::Box box{DENY("dns.qr eq 1 and dns.qname eq \"bad\"")};
    box.find_units_by(parser.finder());
    const auto framed = [](std::string_view name) {
        const std::string message = test::dns_response(name);
        return test::be16_text(static_cast<std::uint16_t>(message.size())) + message;
    };
    const auto judge = [&](const std::string& bytes, std::uint16_t port) {
        const Frame answers =
            test::tcp().sport(53).dport(port).carries(test::message_octets(bytes));
        box.open(answers, kStart);
        return name_of(box.judge(answers.bytes(), kStart).verdict);
    };
    EXPECT_EQ(judge(framed("a") + framed("b"), 1), "pass");
    EXPECT_EQ(judge(framed("a") + framed("bad"), 2), "drop");
    EXPECT_EQ(judge(framed("bad") + framed("a"), 3), "drop");
}

#undef BY_QUIC_SNI
#undef BY_SNI
#undef DENY
#undef HEAD
#undef ONE
#undef QUIC_SERVICE
#undef RULE
#undef TOKENS
#undef WATCH

}  // namespace
}  // namespace sluice::hello_cases_test
