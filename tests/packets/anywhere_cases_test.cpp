#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

// Rules over layer 7 that name no port, where no service is declared: what another protocol says,
// and what cannot be followed, passes and is counted. Only limits refuse.
namespace sluice::anywhere_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::Octets;

constexpr std::uint32_t kFirst = 1000;

#define RULES                                                                                     \
    "version: 1\ndefaults: {mode: enforce}\nrules:\n"                                             \
    "  - {id: requests, key: [ip.src], per: request, limits: [" LIMIT                             \
    "]}\n"                                                                                        \
    "  - {id: handshakes, key: [ip.src], per: handshake, limits: [" LIMIT                         \
    "]}\n"                                                                                        \
    "  - {id: queries, key: [ip.src], per: query, limits: [" LIMIT                                \
    "]}\n"                                                                                        \
    "  - {id: evil, when: 'http.request.uri.path eq \"/evil\" or tls.sni eq \"evil.example\" or " \
    "dns.qname eq \"evil.example\"', on_match: drop}\n"
#define LIMIT "{algorithm: token_bucket, rate: 1/h, burst: 1}"

Octets octets(std::string_view text) {
    return test::octets_of(text);
}
// A segment to any port, so many bytes behind the first one.
Frame segment(const Octets& bytes, std::uint32_t at = 0, std::uint16_t dport = 5900) {
    return test::tcp().src("10.0.0.1").sport(40'000).dport(dport).seq(kFirst + at).carries(bytes);
}
Frame says(std::string_view text, std::uint32_t at = 0, std::uint16_t dport = 5900) {
    return segment(octets(text), at, dport);
}
const std::string kGet = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const auto kGetSize = static_cast<std::uint32_t>(kGet.size());
const std::string kEvil = "GET /evil HTTP/1.1\r\nHost: a.example\r\n\r\n";

// Dialogues: each line is a segment, in order.

std::string bytes_of_text(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values) {
        text.push_back(static_cast<char>(value));
    }
    return text;
}

struct Dialogue {
    const char* name;
    std::uint16_t dport;
    std::vector<std::string> said;
};
std::ostream& operator<<(std::ostream& out, const Dialogue& dialogue) {
    return out << dialogue.name;
}

std::string long_line(std::string_view begin, std::size_t size) {
    std::string line{begin};
    while (line.size() < size) {
        line += "and one word more ";
    }
    return line;
}

const Dialogue kDialogues[] = {
    {"VNC",
     5900,
     {"RFB 003.008\n", bytes_of_text({2}),
      bytes_of_text({0x8F, 0x11, 0x20, 0x00, 0x41, 0x42, 0x20, 0x43}), bytes_of_text({1}),
      bytes_of_text({0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}),
      bytes_of_text({3, 1, 0, 0, 0, 0, 4, 0, 3, 0}), "Pointer 5 ",
      bytes_of_text({5, 0, 1, 2, 3, 4}), "Key down without any end of line"}},
    {"binary first, then a word and a blank", 5900, {bytes_of_text({0, 1, 2, 3}), "GET /", kEvil}},
    {"a word and a blank without a line end", 7, {"Login ", "name ", long_line("GET ", 20'000)}},
    {"a line that never ends", 7, {long_line("word ", 9000), long_line("more ", 9000)}},
    {"SMTP",
     25,
     {"EHLO client.example\r\n", "MAIL FROM:<a@client.example>\r\n", "RCPT TO:<b@a.example>\r\n",
      "DATA\r\n", "Subject: x\r\n\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n.\r\n", "QUIT\r\n"}},
    {"POP3", 110, {"USER a\r\n", "PASS GET / secret\r\n", "STAT\r\n", "RETR 1\r\n"}},
    {"IMAP", 143, {"a1 LOGIN a secret\r\n", "a2 SELECT INBOX\r\n", "a3 IDLE\r\n"}},
    {"telnet",
     23,
     {bytes_of_text({255, 253, 3, 255, 251, 24}), "root", "\r\n", "cat /etc/passwd\r\n", "ls "}},
    {"rlogin",
     513,
     {bytes_of_text({0}), std::string{"me\0root\0xterm/38400\0", 20}, "p", "a", "s", "s", "\r",
      "echo GET / "}},
    {"a prompt as a client says it", 2323, {"login: ", "Password: ", "$ ", "$ ls "}},
    {"a server's script, which begins as a word", 31337, {"echo on\n", "set x 1", "run it now"}},
    {"SSH",
     22,
     {"SSH-2.0-OpenSSH_9.2p1\r\n", bytes_of_text({0, 0, 5, 0x2C, 9, 20, 1, 2, 3, 4}),
      std::string(600, '\x91')}},
    {"BitTorrent", 6881, {std::string{"\x13"} + "BitTorrent protocol" + std::string(48, '\x05')}},
    {"a length that a DNS message may have, and other bytes",
     9999,
     {bytes_of_text({0, 40, 1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 200, 201}), std::string(80, '\xE1'),
      std::string(300, '\x01')}},
    {"an RSA ClientKeyExchange alone",
     9998,
     {bytes_of_text({22, 3, 3, 1, 6, 16, 0, 1, 2, 1, 0}) + std::string(256, '\x01')}},
};

class Anywhere {
public:
    explicit Anywhere(std::string_view rules = RULES) : box{rules} {
        box.find_units_by(parser.finder());
    }
    [[nodiscard]] std::uint64_t counted(ConnectionEvent event) const {
        return parser.connections().of(event);
    }
    [[nodiscard]] std::uint64_t unread(UnreadProtocol protocol, UnreadReason reason) const {
        return parser.connections().unread[unread_kind(protocol, reason)].read();
    }
    [[nodiscard]] Decision judge(const Frame& frame, Nanoseconds after = {}) {
        return box.judge(frame, test::kStart + after);
    }

    UnitParser parser{capture_unit_budget()};
    test::Box box;
};

class OtherProtocol : public testing::TestWithParam<Dialogue> {};

TEST_P(OtherProtocol, Passes) {
    for (const bool is_opened : {true, false}) {
        Anywhere of;
        if (is_opened) {
            of.box.open(segment({}, 0, GetParam().dport), test::kStart);
        }
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < GetParam().said.size(); ++i) {
            const std::string& said = GetParam().said[i];
            // A segment every 8 seconds: half heads time out meanwhile.
            for (std::size_t from = 0; from < said.size(); from += 1400) {
                const std::string part = said.substr(from, 1400);
                const Frame frame = says(part, at, GetParam().dport);
                EXPECT_EQ(of.judge(frame, i * 8s).reason, Reason::Unmatched) << i;
                EXPECT_EQ(of.judge(frame, i * 8s).reason, Reason::Unmatched) << i << ", again";
                at += static_cast<std::uint32_t>(part.size());
            }
        }
        EXPECT_EQ(of.box.counters(0).exceeded.read() + of.box.counters(3).exceeded.read(), 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(All, OtherProtocol, testing::ValuesIn(kDialogues));

// Bytes that a reader cannot follow.

Octets finished_of_tls12(unsigned first_encrypted) {
    Octets flight = octets(bytes_of_text({20, 3, 3, 0, 1, 1, 22, 3, 3, 0, 40}));
    test::put8(flight, first_encrypted);
    for (unsigned i = 1; i < 40; ++i) {
        test::put8(flight, 0x9D ^ (i * 37U));
    }
    return flight;
}
const Octets kHello = test::HelloMaker{}.sni("a.example").records();
const auto kHelloSize = static_cast<std::uint32_t>(kHello.size());

// 1 in 256 begins as a ClientHello does.
TEST(AnywhereTls, EveryFinishedPasses) {
    for (unsigned first = 0; first < 256; ++first) {
        Anywhere of;
        of.box.open(segment(kHello, 0, 443), test::kStart);
        EXPECT_EQ(of.judge(segment(kHello, 0, 443)).reason, Reason::WithinLimits);
        const Octets finished = finished_of_tls12(first);
        EXPECT_EQ(of.judge(segment(finished, kHelloSize, 443)).reason, Reason::Unmatched) << first;
        const auto behind = kHelloSize + static_cast<std::uint32_t>(finished.size());
        Octets record = octets(bytes_of_text({23, 3, 3, 0, 60}));
        record.resize(65, std::byte{0xA7});
        for (std::uint32_t i = 0; i < 40; ++i) {
            EXPECT_EQ(of.judge(segment(record, behind + 65 * i, 443), i * 2s).reason,
                      Reason::Unmatched)
                << first;
        }
    }
}

const Case kCases[] = {
    {"a request behind a SYN is limited, and its retransmission uncharged",
     RULES,
     {{0ms, says(kGet), "pass", "within_limits"},
      {0ms, says(kGet), "pass", "unmatched"},
      {10ms, says(kGet), "pass", "unmatched"},
      {10ms, says(kGet).sport(2), "drop", "over_limit", "requests", 3600s - 10ms},
      {20ms, says(kGet).sport(2), "drop", "retransmission"}}},

    {"ports that are used again after a refusal are another connection's",
     RULES,
     {{0ms, says(kEvil), "drop", "deny_rule", "evil"},
      {0ms, says("", 8'999'999).flags(0x02), "pass", "unmatched"},
      {0ms, says(kEvil, 9'000'000), "drop", "deny_rule", "evil"}}},

    {"on a port that nobody named as on any other",
     RULES,
     {{0ms, says(kEvil, 0, 31'337), "drop", "deny_rule", "evil"}}},

    {"half a head, then silence, then the rest",
     RULES,
     {{0ms, says("GET /evil HT"), "pass", "unmatched"},
      {30s, says("TP/1.1\r\nHost: a.example\r\n\r\n", 12), "pass", "unmatched"},
      {31s, says(kEvil, 40), "pass", "unmatched"}}},

    {"other bytes for the same place",
     RULES,
     {{0ms, says("GET /good HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, says("GET /evil HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, says("Host: a.example\r\n\r\n", 20), "pass", "unmatched"}}},

    {"other bytes in the place of a request",
     RULES,
     {{0ms, says(kGet), "pass", "within_limits"},
      {0ms, says("PUT / HTTP/1.1\r\nHost: b.example\r\n\r\n"), "pass", "unmatched"},
      {0ms, says(kEvil, kGetSize), "pass", "unmatched"}}},

    {"a segment that is far ahead",
     RULES,
     {{0ms, says("GET /"), "pass", "unmatched"},
      {0ms, says(kEvil, 90'000), "pass", "unmatched"},
      {0ms, says("evil HTTP/1.1\r\nHost: a\r\n\r\n", 5), "pass", "unmatched"}}},

    {"a segment that is a little ahead waits for the rest",
     RULES,
     {{0ms, says(kEvil.substr(5), 5), "pass", "unmatched"},
      {0ms, says("GET /"), "drop", "deny_rule", "evil"}}},

    {"behind what is malformed",
     RULES,
     {{0ms, says("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n" + kEvil), "pass", "within_limits"},
      {0ms, says(kEvil, 37 + 39), "pass", "unmatched"}}},

    {"behind chunks that cannot be followed",
     RULES,
     {{0ms, says("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), "pass",
       "within_limits"},
      {0ms, says("no size\r\n", 56), "pass", "unmatched"},
      {0ms, says(kEvil, 65), "pass", "unmatched"}}},

    {"a hello without ciphers",
     RULES,
     {{0ms, segment(test::HelloMaker{}.ciphers({}).records(), 0, 443), "pass", "unmatched"}}},

    {"a QUIC hello without ciphers",
     RULES,
     {{0ms,
       test::udp()
           .src("10.0.0.1")
           .dport(443)
           .carries(test::InitialMaker{}
                        .dcid(test::quic_id(1))
                        .carries(test::crypto(0, octets(bytes_of_text({1, 0, 0, 4, 9, 9, 9, 9}))))
                        .packet()),
       "pass", "unmatched"}}},
};

class AnywhereCase : public testing::TestWithParam<Case> {};

TEST_P(AnywhereCase, Holds) {
    Anywhere of{GetParam().rules};
    test::expect_opened_steps(of.box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, AnywhereCase, testing::ValuesIn(kCases));

// The first doubt is counted, once for a connection.
struct Doubt {
    const char* name;
    std::vector<Frame> frames;
    Nanoseconds pause{};
    std::uint64_t unread = 1;
    UnreadProtocol protocol = UnreadProtocol::Http;
    UnreadReason reason = UnreadReason::Other;
};
const Doubt kDoubts[] = {
    {"half a head that timed out",
     {says("GET / HT"), says("TP/1.1\r\n", 8), says("x", 16)},
     30s,
     1,
     UnreadProtocol::Http,
     UnreadReason::TooSlow},
    {"a gap beyond reach",
     {says("GET /"), says(kGet, 90'000), says(kGet, 91'000)},
     {},
     1,
     UnreadProtocol::Http,
     UnreadReason::Gap},
    {"other bytes",
     {says("GET /good "), says("GET /evil "), says("more", 10)},
     {},
     1,
     UnreadProtocol::Http,
     UnreadReason::Differs},
    {"malformed",
     {says("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), says(kGet, 37)},
     {},
     1,
     UnreadProtocol::Http,
     UnreadReason::Doubtful},
    {"no protocol behind a request", {says(kGet), says("\x80\x81\x82", kGetSize)}},
    {"too long",
     {says(long_line("GET /", 17'000)), says(long_line("x", 9000), 17'000)},
     {},
     1,
     UnreadProtocol::Http,
     UnreadReason::TooLong},
    {"first bytes elsewhere than the SYN said",
     {says("").flags(0x02).seq(kFirst - 1), says(kGet, 90'000), says(kGet)},
     {},
     1,
     UnreadProtocol::None,
     UnreadReason::Gap},
    {"none", {says(kGet), says(kGet), says(kGet, kGetSize)}, {}, 0},
};

TEST(AnywhereCounters, TheFirstDoubtIsCountedOnce) {
    for (const Doubt& row : kDoubts) {
        SCOPED_TRACE(row.name);
        Anywhere of;
        of.box.open(row.frames.front(), test::kStart);
        Nanoseconds now{};
        for (const Frame& frame : row.frames) {
            (void)of.judge(frame, now);
            now += row.pause;
        }
        EXPECT_EQ(of.counted(ConnectionEvent::Unread), row.unread);
        EXPECT_EQ(of.unread(row.protocol, row.reason), row.unread);
        EXPECT_EQ(of.counted(ConnectionEvent::Midstream), 0U);
    }
}

// A connection whose SYN nobody has seen is read by nobody.
TEST(AnywhereCounters, WhatMayBeginAUnitAndIsNotReadIsCounted) {
    Anywhere of;
    EXPECT_EQ(of.judge(says(kEvil)).reason, Reason::Unmatched);
    EXPECT_EQ(of.judge(segment(kHello, 0, 443)).reason, Reason::Unmatched);
    EXPECT_EQ(of.judge(says("\x80\x81", 0, 443)).reason, Reason::Unmatched) << "begins nothing";
    EXPECT_EQ(of.counted(ConnectionEvent::Midstream), 2U);
    EXPECT_EQ(of.counted(ConnectionEvent::Unread), 0U);
    EXPECT_EQ(of.counted(ConnectionEvent::Opened), 0U);
}

// A server's SYN begins no connection of its client.
TEST(AnywhereCounters, AnAnswerToASynBeginsNothing) {
    Anywhere of;
    (void)of.judge(says("").flags(0x12).seq(kFirst - 1));
    EXPECT_EQ(of.judge(says(kEvil)).reason, Reason::Unmatched);
    EXPECT_EQ(of.counted(ConnectionEvent::Midstream), 1U);
}

}  // namespace
}  // namespace sluice::anywhere_cases_test

#undef RULES
#undef LIMIT
