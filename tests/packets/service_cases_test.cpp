#include "lib/units/unit_parser.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/unit/units/quic_datagrams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

// What cannot be read is refused where a service is declared. The same steps without one stand in
// http_cases, reading_cases and hello_cases.
namespace sluice::service_http_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;

constexpr std::uint32_t kFirst = 1000;  // where the connections here begin

// A segment of one client's connection, so many bytes behind its beginning.
Frame segment(std::string_view text, std::uint32_t at = 0) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(40'000)
        .dport(80)
        .seq(kFirst + at)
        .carries({bytes.begin(), bytes.end()});
}
std::uint32_t size_of(const std::string& text) {
    return static_cast<std::uint32_t>(text.size());
}
std::string get(std::string_view path, std::string_view host = "a.example") {
    return "GET " + std::string{path} + " HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n";
}
Frame asks(std::string_view path, std::uint32_t at = 0) {
    return segment(get(path), at);
}

#define HEAD                                                                             \
    "version: 1\nservices: [{id: web, protocol: http, mode: enforce, when: l4.dport eq " \
    "80}]\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY_HOST HEAD RULE("hosts", "key: [http.host], per: request, " ONE)

const Case kServiceCases[] = {
    {"what servers read differently is refused where a rule acts",
     BY_HOST,
     {{0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "drop", "ambiguous_request"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "drop", "retransmission"},
      {0ms,
       segment("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: "
               "chunked\r\n\r\n")
           .sport(2),
       "drop", "ambiguous_request"},
      {0ms, segment(std::string{"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28}).sport(3), "drop",
       "malformed_request"},
      {0ms, segment(get("/", "a")).sport(4), "pass", "within_limits"}}},

    {"a request that pauses for longer than heads may is given up, and the rest of it refused",
     BY_HOST,
     {{0ms, segment("GET / HT"), "pass", "unmatched"},
      {30s, segment("TP/1.1\r\nHost: a.example\r\n\r\n", 8), "drop", "lost_head"}}},

    {"a request before all that is known is judged too, whatever follows it in its segment",
     DENY("http.request.uri.path eq \"/evil\""),
     {{0ms, asks("/ok", 1000), "pass", "unmatched"},
      {0ms, segment(get("/evil") + get("/b"), 1000 - 74), "drop", "deny_rule", "d"},
      {0ms, segment(get("/b") + get("/evil"), 1000 - 200), "drop", "deny_rule", "d"},
      {0ms, asks("/ok", 1000).sport(4), "pass", "unmatched"},
      {0ms, segment(std::string(961, '\n') + get("/evil") + get("/ok") + "G").sport(4), "drop",
       "deny_rule", "d"}}},

    {"what stands where an admitted request stood is refused, whole or in parts",
     BY_HOST,
     {{0ms, asks("/decoy"), "pass", "within_limits"},
      {0ms, asks("/login"), "drop", "overlap"},
      {0ms, asks("/decoy"), "pass", "unmatched"},
      {0ms, segment("gin HTTP/1.1\r\nHost: a.example\r\n\r\n", 7), "drop", "overlap"},
      {0ms, segment("\n", 39), "pass", "unmatched"},
      {0ms, segment("x", 38), "drop", "overlap"},
      {1000ms, segment(get("/decoy") + get("/next")), "pass", "within_limits"},
      {1000ms, segment(get("/decoy") + get("/next")), "pass", "unmatched"},
      {1000ms, segment(get("/decoy") + get("/evil")), "drop", "overlap"}}},

    {"another one in its place is never whole, however it is cut",
     BY_HOST,
     {{0ms, asks("/decoy"), "pass", "within_limits"},
      {0ms, segment("GET /lo"), "pass", "unmatched"},
      {0ms, segment("gin HTTP/1.1\r\nHost: a.example\r\n\r", 7), "pass", "unmatched"},
      {0ms, segment("\n", 39), "drop", "overlap"},
      {0ms, asks("/decoy"), "drop", "overlap"},
      {0ms, segment("oy HTTP/1.1\r\nHost: a.example\r\n\r\n", 8), "drop", "overlap"},
      {0ms, asks("/login", 40), "drop", "over_limit", "hosts", 1000ms}}},

    {"also where it came in parts, each of which may be sent again",
     BY_HOST,
     {{0ms, segment("GET /deco"), "pass", "unmatched"},
      {0ms, segment("y HTTP/1.1\r\nHost: a.exam", 9), "pass", "unmatched"},
      {0ms, segment("ple\r\n\r\n", 33), "pass", "within_limits"},
      {0ms, segment("y HTTP/1.1\r\nHost: a.exam", 9), "pass", "unmatched"},
      {0ms, segment("GET /decoy HTTP/1.1\r\nHost: a.exam"), "pass", "unmatched"},
      {0ms, segment("GET /logi"), "drop", "overlap"},
      {0ms, segment("n HTTP/1.1\r\nHost: a.exam", 9), "drop", "overlap"},
      {0ms, segment("GET /decoy HT"), "pass", "unmatched"},
      {0ms, segment("TP/1.1\r\nHost: a.exam", 13), "pass", "unmatched"},
      {0ms, asks("/login"), "drop", "overlap"},
      {0ms, asks("/decoy"), "pass", "unmatched"}}},

    {"a half head met again with other bytes is refused",
     BY_HOST,
     {{0ms, segment("GET /decoy HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("GET /login HTTP/1.1\r\n"), "drop", "overlap"}}},

    {"segments out of order are judged at the one that closes the last gap",
     BY_HOST,
     {{0ms, segment("ple\r\n\r\n", 28), "pass", "unmatched"},
      {0ms, segment("GET / HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("Host: a.exam", 16), "pass", "unmatched"},
      {0ms, asks("/").sport(2), "pass", "within_limits"}}},
};

class ServiceHttpCase : public testing::TestWithParam<Case> {};

TEST_P(ServiceHttpCase, Holds) {
    UnitParser parser{capture_unit_budget(), StreamStance::Service};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ServiceHttpCase, testing::ValuesIn(kServiceCases));

std::vector<std::string> reasons_of(const std::vector<Decision>& decisions) {
    std::vector<std::string> reasons;
    for (const Decision& decision : decisions) {
        reasons.emplace_back(row_of(decision.reason).name);
    }
    return reasons;
}

TEST(ServiceHttpBurst, WhatDiffersLeavesTheVerdictAlone) {
    UnitParser parser{capture_unit_budget(), StreamStance::Service};
    test::Box box{BY_HOST};
    box.find_units_by(parser.finder());
    const auto first =
        box.judge_burst({asks("/decoy").bytes(), asks("/login").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(first), (std::vector<std::string>{"within_limits", "overlap"}));
    const auto again = box.judge_burst({asks("/decoy").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(again), (std::vector<std::string>{"unmatched"}));
}

}  // namespace
}  // namespace sluice::service_http_cases_test

namespace sluice::service_reading_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;

// A connection of its own for each port.
Frame sends(std::string_view text, std::uint16_t sport) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(sport)
        .dport(80)
        .seq(1000)
        .carries({bytes.begin(), bytes.end()});
}
std::string head(std::string_view target, std::string_view lines = "Host: a\r\n") {
    return "GET " + std::string{target} + " HTTP/1.1\r\n" + std::string{lines} + "\r\n";
}

const Case kServiceCases[] = {
    {"three readings of one place are refused",
     BY_HOST,
     {{0ms, sends(head("http://a/", "Host: b\r\nHost: c\r\n"), 1), "drop", "ambiguous_request"},
      {0ms, sends(head("/a#b c"), 2), "drop", "ambiguous_request"},
      {0ms, sends(head("/", "Host: b\r\n"), 3), "pass", "within_limits"}}},

    {"where a request ends is refused if servers disagree, or may",
     BY_HOST,
     {{0ms, sends(head("/", "Host: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"), 1),
       "drop", "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n"), 2), "drop",
       "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\r\nTransfer-Encoding : chunked\r\n"), 3), "drop",
       "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\nHost: b\r\n"), 4), "drop", "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\r\nHost: b\r\nX: y\r\n z\r\n"), 5), "drop",
       "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\r\nHost: b c\r\n"), 6), "drop", "ambiguous_request"},
      {0ms, sends(head("/", "Host: a b\r\n"), 7), "drop", "ambiguous_request"},
      {0ms, sends(head("/", "Host: a\r\n"), 8), "pass", "within_limits"}}},
};

class ServiceReadingCase : public testing::TestWithParam<Case> {};

TEST_P(ServiceReadingCase, Holds) {
    UnitBudget budget = capture_unit_budget();
    budget.on_ambiguous = OnAmbiguous::Both;
    UnitParser parser{budget, StreamStance::Service};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ServiceReadingCase, testing::ValuesIn(kServiceCases));

}  // namespace
}  // namespace sluice::service_reading_cases_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef ONE
#undef DENY
#undef BY_HOST

namespace sluice::service_hello_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::Frame;
using test::HelloMaker;
using test::kStart;
using test::Octets;

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

#define HEAD                                                                                    \
    "version: 1\nservices:\n"                                                                   \
    "  - {id: names, protocol: tls, mode: enforce, when: ip.proto eq 6 and l4.dport eq 443}\n"  \
    "  - {id: quic, protocol: quic, mode: enforce, when: ip.proto eq 17 and l4.dport eq 443}\n" \
    "  - {id: dns, protocol: dns, mode: enforce, when: l4.dport eq 53}\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define WATCH(id, rest) "  - {id: " id ", mode: monitor, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY_SNI HEAD RULE("names", "key: [tls.sni], per: handshake, " ONE)
#define BY_QUIC_SNI HEAD RULE("names", "key: [quic.sni], per: handshake, " ONE)

const Octets kHello = hello("a.example");

const Case kServiceCases[] = {
    {"a malformed hello does not pass where a rule over hellos acts",
     DENY("tls.sni eq \"bad.example\""),
     {{0ms, tls(HelloMaker{}.sni("").records()), "drop", "malformed_hello"},
      {0ms, tls(HelloMaker{}.sni("").records()), "drop", "retransmission"},
      {0ms, tls(kHello).sport(2), "pass", "unmatched"}}},
};

class ServiceHelloCase : public testing::TestWithParam<Case> {};

TEST_P(ServiceHelloCase, Holds) {
    UnitParser parser{UnitBudget{}, StreamStance::Service};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, ServiceHelloCase, testing::ValuesIn(kServiceCases));

// Of bytes that end with their connection, those that come in the burst that decides it.
TEST(ServiceHelloBurst, WhatFollowsAMalformedHelloGoesWhereItGoes) {
    UnitParser parser{UnitBudget{}, StreamStance::Service};
    test::Box box{BY_SNI};
    box.find_units_by(parser.finder());
    const Octets malformed = HelloMaker{}.sni("").records();
    const auto decisions =
        box.judge_burst({tls(malformed).bytes(), tls(kHello, size_of(malformed)).bytes(),
                         tls(kHello, size_of(malformed) + size_of(kHello)).bytes()},
                        kStart);
    ASSERT_EQ(decisions.size(), 3U);
    EXPECT_EQ(decisions[0].reason, Reason::MalformedHello);
    EXPECT_EQ(decisions[1].reason, Reason::Retransmission);
    EXPECT_EQ(decisions[2].reason, Reason::Retransmission);
}

// What cannot be decrypted in time cannot be judged.
TEST(ServiceHelloBurst, InitialsBeyondTheTimeForThemDropWhereARuleActs) {
    for (const char* const mode : {"enforce", "monitor"}) {
        UnitParser parser{UnitBudget{.quic = {.connections = 8192, .percent = 1}},
                          StreamStance::Service};
        test::Box box{std::string{HEAD "  - {id: names, mode: "} + mode +
                      ", key: [quic.sni], per: handshake, limits: [" TOKENS("1M/s", "1M") "]}\n"};
        box.find_units_by(parser.finder());
        const auto saved = static_cast<unsigned>(OpeningTime::kMostSaved / 100 / kInitialCost);
        for (unsigned id = 0; id < saved + 10; ++id) {
            const Decision decision = box.judge(quic(test::quic_initial("a", id)).bytes(), kStart);
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

}  // namespace
}  // namespace sluice::service_hello_cases_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef WATCH
#undef ONE
#undef DENY
#undef BY_SNI
#undef BY_QUIC_SNI

// Somebody who guesses the numbers of a connection.
namespace sluice::service_answer_cases_test {
namespace {

using test::AnsweringBox;
using test::Frame;

constexpr std::uint32_t kFirst = 1000;  // the client's number of its first byte
constexpr std::uint32_t kTheirs = 7;    // the server's, of the byte that the client awaits
constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kAck = 0x10;

Frame from_client(std::string_view text = {}, std::uint32_t at = 0, std::uint16_t flags = kAck) {
    return test::tcp()
        .src("10.0.0.1")
        .dst("10.0.0.2")
        .sport(40'000)
        .dport(80)
        .seq(kFirst + at)
        .ack(kTheirs)
        .flags(flags)
        .carries(test::octets_of(text));
}
Frame from_server(std::uint32_t acknowledged, std::uint16_t flags = kAck) {
    return test::tcp()
        .src("10.0.0.2")
        .dst("10.0.0.1")
        .sport(80)
        .dport(40'000)
        .seq(kTheirs)
        .ack(acknowledged)
        .flags(flags);
}
const std::string kGet = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const auto kGetSize = static_cast<std::uint32_t>(kGet.size());

constexpr std::string_view kReply = "reply, body: no";

// Every request is refused: the only one that a day has room for is gone.
std::string refuses(std::string_view action, std::string_view per) {
    return "version: 1\nservices: [{id: web, protocol: http, mode: enforce, when: l4.dport eq "
           "80}]\n"
           "rules:\n  - {id: all, mode: enforce, key: [], per: " +
           std::string{per} +
           ", limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: " +
           std::string{action} + "}}\n";
}

// Somebody who knows the ends of a connection and guesses its numbers changes nothing about it.
TEST(ServiceAnswers, ARequestWithOtherNumbersEndsNoConnection) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    for (const std::uint32_t guess : {0x2000'0000U, 0x8000'0000U, 0xF000'0000U}) {
        EXPECT_EQ(box.take(from_client(kGet).seq(guess).ack(guess)).back(), "reply over_limit");
        EXPECT_EQ(box.take(from_server(1000), Direction::Out).back(), "pass unmatched");
        EXPECT_EQ(box.take(from_client("more", 0)).back(), "pass unmatched");
        EXPECT_EQ(box.take(from_server(1004, kFin | kAck), Direction::Out).back(),
                  "pass unmatched");
    }
    EXPECT_EQ(box.count(AnswerEvent::ChallengeReset), 0U);
}

}  // namespace
}  // namespace sluice::service_answer_cases_test

// A million requests that begin and are never whole, under the tables that a box has by default.
// Without sanitizers it takes seconds; it is a suite of its own, so that it runs only so.
namespace sluice::service_half_head_flood_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kHeads = 1'000'000;
constexpr std::uint32_t kPerSource = 16;
constexpr Instant kStart{1h};
constexpr Nanoseconds kPerBurst{160'000};  // 200,000 heads a second
constexpr std::uint64_t kSlack = std::uint64_t{8} << 20;

const char* const kRules = R"yaml(version: 1
services: [{id: web, protocol: http, mode: enforce, when: l4.dport eq 80}]
rules:
  - {id: each, mode: enforce, key: [http.host], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 2M, per: request}]}
)yaml";
constexpr std::string_view kBegin = "GET /slow HTTP/1.1\r\nHost: a.exam";
constexpr std::string_view kRest = "ple\r\n\r\n";
constexpr std::string_view kWhole = "GET /page HTTP/1.1\r\nHost: b.example\r\n\r\n";

std::uint64_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

test::Octets segment(std::string_view text, std::uint32_t at) {
    const ByteView bytes = std::as_bytes(std::span{text});
    return test::tcp()
        .src("10.0.0.1")
        .sport(1)
        .dport(80)
        .seq(1000 + at)
        .carries({bytes.begin(), bytes.end()})
        .bytes();
}

// What became of the segments of a burst.
struct Fates {
    std::uint64_t judged = 0;  // a request that a rule admitted
    std::uint64_t passed = 0;  // no rule has seen a request in it
    std::uint64_t dropped = 0;
};

class ServiceHalfHeadFlood : public testing::Test {
protected:
    // The same segment of so many connections.
    Fates send(const test::Octets& frame, std::uint32_t first, std::size_t count) {
        burst_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            frames_[i] = frame;
            const std::uint32_t number = first + static_cast<std::uint32_t>(i);
            const std::uint32_t source = __builtin_bswap32(0x1000'0000U + number / kPerSource);
            const auto port = static_cast<std::uint16_t>(1024 + number % kPerSource);
            const std::uint16_t ordered = __builtin_bswap16(port);
            std::memcpy(frames_[i].data() + 14 + 12, &source, sizeof(source));
            std::memcpy(frames_[i].data() + 14 + 20, &ordered, sizeof(ordered));
            (void)burst_.add({frames_[i], static_cast<std::uint32_t>(frame.size())}, Direction::In,
                             1);
        }
        box_.run(burst_, now_);
        now_ += kPerBurst;
        Fates fates;
        for (const Packet& packet : burst_.packets()) {
            const bool judged = packet.decision.reason == Reason::WithinLimits;
            ++(!forwards(packet.decision.verdict) ? fates.dropped
               : judged                           ? fates.judged
                                                  : fates.passed);
        }
        return fates;
    }
    void begin(std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t first = from; first < to; first += kMaxBurst) {
            ASSERT_EQ(send(begin_, first, kMaxBurst).passed, kMaxBurst);
            if (first / kMaxBurst % 64 == 0) {
                ASSERT_EQ(send(whole_, kHeads + first, 1).judged, 1U) << "beside them";
                ++pages_;
            }
        }
    }
    Fates go_on(std::uint32_t from, std::uint32_t to) {
        Fates all;
        for (std::uint32_t first = from; first < to; first += kMaxBurst) {
            const Fates fates = send(rest_, first, kMaxBurst);
            all.judged += fates.judged;
            all.passed += fates.passed;
            all.dropped += fates.dropped;
        }
        return all;
    }
    std::uint64_t counted(ConnectionEvent event) const { return parser_.connections().of(event); }
    void expect_the_budget() const {
        const ConnectionCounters& now = parser_.connections();
        EXPECT_LE(now.connections.read(), budget_.connections.connections);
        EXPECT_LE(now.half_heads.read(), budget_.connections.half_heads);
        EXPECT_LE(now.held_lines.read(), budget_.connections.half_head_lines);
        EXPECT_LE(now.given_up.read(), budget_.connections.given_up);
    }

    const UnitBudget budget_ = unit_budget({}, 1);
    const test::Octets begin_ = segment(kBegin, 0);
    const test::Octets rest_ = segment(kRest, kBegin.size());
    const test::Octets whole_ = segment(kWhole, 0);
    UnitParser parser_{budget_, StreamStance::Service};
    test::Box box_{kRules};
    Burst burst_;
    std::array<test::Octets, kMaxBurst> frames_;
    Instant now_ = kStart;
    std::uint64_t pages_ = 0;
};

TEST_F(ServiceHalfHeadFlood, StaysWithinItsMemoryAndPassesNoneUnread) {
    burst_.find_units_by(parser_.finder());
    const std::uint64_t before = resident_bytes();
    const auto full_at = static_cast<std::uint32_t>(4 * budget_.connections.connections);
    begin(0, full_at);
    const std::uint64_t full = resident_bytes();
    begin(full_at, kHeads);
    const std::uint64_t after = resident_bytes();
    std::printf(
        "%u half heads and %llu pages; resident: %llu KiB before, %llu KiB when full, "
        "%llu KiB after; tables: %llu KiB\n",
        kHeads, static_cast<unsigned long long>(pages_),
        static_cast<unsigned long long>(before >> 10), static_cast<unsigned long long>(full >> 10),
        static_cast<unsigned long long>(after >> 10),
        static_cast<unsigned long long>(memory_of(budget_) >> 10));
    EXPECT_LE(full - std::min(full, before), memory_of(budget_) + kSlack);
    EXPECT_LE(after, full + kSlack);
    expect_the_budget();
    EXPECT_EQ(counted(ConnectionEvent::HalfHead), kHeads);
    EXPECT_EQ(box_.counters(0).admitted.read(), pages_);

    // As many as there is room for are held, and are judged as they become whole. What made room
    // for them is known as such; what is not any more has been counted.
    const Fates rest = go_on(0, kHeads);
    std::printf(
        "their rest: %llu judged, %llu dropped, %llu passed unread; forgotten: "
        "%llu\n",
        static_cast<unsigned long long>(rest.judged), static_cast<unsigned long long>(rest.dropped),
        static_cast<unsigned long long>(rest.passed),
        static_cast<unsigned long long>(counted(ConnectionEvent::RefusedForgotten)));
    EXPECT_EQ(rest.judged, budget_.connections.half_heads);
    EXPECT_LE(rest.passed, counted(ConnectionEvent::RefusedForgotten));
    EXPECT_GT(counted(ConnectionEvent::RefusedForgotten), 0U) << "so many are beyond any room";
    EXPECT_GE(rest.dropped, 6 * budget_.connections.connections * 9 / 10);
    expect_the_budget();
}

}  // namespace
}  // namespace sluice::service_half_head_flood_test
