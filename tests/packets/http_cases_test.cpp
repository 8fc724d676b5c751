#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

// HTTP/1 from segments to a verdict where no service is declared: heads in pieces, bodies, several
// requests, retransmissions, and what two servers read differently. Each connection begins with a
// SYN; what a limit does not refuse passes.
namespace sluice::http_cases_test {
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

#define HEAD "version: 1\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY_HOST HEAD RULE("hosts", "key: [http.host], per: request, " ONE)

const std::string kPost = "POST /form HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\n";
const std::string kChunked =
    "POST /form HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";

// One server takes the length, another one the chunks.
const std::string kTwoFramings =
    "POST / HTTP/1.1\r\nHost: c\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kMalformed{"GET /\0 HTTP/1.1\r\nHost: m\r\n\r\n", 28};

const Case kCases[] = {
    {"an address has one key, however it is written",
     BY_HOST,
     {{0ms, segment(get("/", "[2001:db8::1]")).sport(1), "pass", "within_limits"},
      {0ms, segment(get("/", "[2001:DB8:0:0:0:0:0:1]:80")).sport(2), "drop", "over_limit", "hosts",
       1000ms},
      {0ms, segment(get("/", "[2001:db8::2]")).sport(3), "pass", "within_limits"}}},

    {"requests are limited by host, whatever its case, port and trailing dot",
     BY_HOST,
     {{0ms, segment(get("/", "a.example")), "pass", "within_limits"},
      {0ms, segment(get("/", "A.Example.:80")).sport(2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, segment(get("/", "b.example")).sport(3), "pass", "within_limits"}}},

    {"paths are compared in their normal form",
     DENY("http.request.uri.path eq \"/a/b\""),
     {{0ms, asks("/a//./x/../%62?q=1"), "drop", "deny_rule", "d"},
      {0ms, asks("/a/c").sport(2), "pass", "unmatched"}}},

    {"method, target, query, agent and referer",
     DENY("http.request.method eq \"PUT\" or http.request.uri eq \"/x?y\" or "
          "http.request.uri.query contains \"evil\" or http.user_agent matches \"^bot\" or "
          "http.referer eq \"http://b/\""),
     {{0ms, segment("PUT / HTTP/1.1\r\nHost: a\r\n\r\n"), "drop", "deny_rule", "d"},
      {0ms, asks("/x?y").sport(2), "drop", "deny_rule", "d"},
      {0ms, asks("/z?an=evil").sport(3), "drop", "deny_rule", "d"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: bot/1\r\n\r\n").sport(4), "drop",
       "deny_rule", "d"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nreferer: http://b/\r\n\r\n").sport(5), "drop",
       "deny_rule", "d"},
      {0ms, asks("/").sport(6), "pass", "unmatched"}}},

    {"a dot of a pattern stays in its line, as in PCRE",
     HEAD RULE("line", "when: 'payload matches \"Host: .*bad\"', on_match: drop")
         RULE("all", "when: 'payload matches \"(?s)Host: .*bad\"', on_match: drop"),
     {{0ms, segment("GET / HTTP/1.1\r\nHost: a.bad\r\n\r\n"), "drop", "deny_rule", "line"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nX: bad\r\n\r\n").sport(2), "drop", "deny_rule",
       "all"}}},

    {"what is recognised is said, whichever port it enters by",
     DENY("proto.l7 eq \"http\" and proto.scheme eq \"http\""),
     {{0ms, asks("/").dport(4711), "drop", "deny_rule", "d"},
      {0ms, asks("/").sport(53), "drop", "deny_rule", "d"},
      {0ms, segment("SSH-2.0-x\r\n").dport(80).sport(2), "pass", "unmatched"},
      {0ms, segment("HTTP/1.1 200 OK\r\n\r\n").sport(3), "pass", "unmatched"}}},

    {"%2F in a path is a slash to some servers: both paths are judged",
     HEAD RULE("d", "when: 'http.request.uri.path eq \"/a/b\" and l4.dport eq 80', on_match: drop"),
     {{0ms, asks("/a%2Fb"), "drop", "deny_rule", "d"},
      {0ms, asks("/a%2Fc").sport(2), "pass", "unmatched"},
      {0ms, asks("/a/../b").sport(3), "pass", "unmatched"},
      {0ms, asks("/a%3Bb").sport(4), "pass", "unmatched"}}},
    {"%2F in a path is nothing to rules that read none",
     BY_HOST,
     {{0ms, asks("/a%2Fb"), "pass", "within_limits"}}},

    {"HTTP/2 in clear is recognised and not read",
     DENY("proto.l7 eq \"h2c\""),
     {{0ms, segment("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "drop", "deny_rule", "d"},
      {0ms, asks("/").sport(2), "pass", "unmatched"}}},

    {"a request is charged at the segment that completes its head",
     BY_HOST,
     {{0ms, segment("GET / HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("Host: a.exam", 16), "pass", "unmatched"},
      {0ms, segment("ple\r\n\r", 28), "pass", "unmatched"},
      {0ms, segment("\n", 34), "pass", "within_limits"},
      {0ms, asks("/").sport(2), "drop", "over_limit", "hosts", 1000ms}}},

    {"segments out of order are judged at the one that closes the last gap",
     BY_HOST,
     {{0ms, segment("ple\r\n\r\n", 28), "pass", "unmatched"},
      {0ms, segment("GET / HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("Host: a.exam", 16), "pass", "within_limits"},
      {0ms, asks("/").sport(2), "drop", "over_limit", "hosts", 1000ms}}},

    {"a rule that tells packets of a connection apart is asked of whole requests",
     HEAD RULE("long", "when: 'ip.len gt 60', key: [http.host], per: request, " ONE),
     {{0ms, segment("GET / HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("Host: a.example\r\nAccept: */*\r\n\r\n", 16), "pass", "within_limits"},
      {0ms, asks("/").sport(2), "drop", "over_limit", "long", 1000ms},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a.example\r\n\r").sport(3), "pass", "unmatched"},
      {0ms, segment("\n", 34).sport(3), "pass", "unmatched"}}},

    {"what passes by its flags is read where requests follow it",
     HEAD RULE("opens", "when: 'tcp.flags.syn', on_match: allow")
         RULE("hosts", "when: 'not tcp.flags.syn', key: [http.host], per: request, " ONE),
     {{0ms, segment("").flags(0x02).seq(kFirst - 1), "pass", "allow_rule", "opens"},
      {0ms, segment("ple\r\n\r\n", 28), "pass", "unmatched"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a.exam"), "pass", "within_limits"},
      {0ms, asks("/").sport(2), "drop", "over_limit", "hosts", 1000ms}}},

    {"a request that was admitted passes again, and is charged once",
     BY_HOST,
     {{0ms, asks("/"), "pass", "within_limits"},
      {0ms, asks("/"), "pass", "unmatched"},
      {900ms, asks("/"), "pass", "unmatched"},
      {1000ms, asks("/").sport(2), "pass", "within_limits"}}},

    {"a request that was refused is refused again, and is not charged when there is room",
     BY_HOST,
     {{0ms, asks("/").sport(2), "pass", "within_limits"},
      {0ms, asks("/"), "drop", "over_limit", "hosts", 1000ms},
      {2000ms, asks("/"), "drop", "retransmission"},
      {2000ms, segment("GET / HT"), "drop", "retransmission"},
      {2000ms, asks("/").sport(3), "pass", "within_limits"}}},

    {"each request of a connection is a unit, bodies are stepped over",
     HEAD RULE("paths", "key: [http.request.uri.path], per: request, " ONE),
     {{0ms, segment(kPost + "GET /body "), "pass", "within_limits"},
      {0ms, asks("/x", static_cast<std::uint32_t>(kPost.size()) + 10), "pass", "within_limits"},
      {0ms, asks("/x", static_cast<std::uint32_t>(kPost.size()) + 10 + 36), "drop", "over_limit",
       "paths", 1000ms},
      {0ms, asks("/body").sport(2), "pass", "within_limits"}}},

    {"chunks are stepped over, whatever they look like",
     HEAD RULE("paths", "key: [http.request.uri.path], per: request, " ONE),
     {{0ms, segment(kChunked + "18\r\nGET /in/a HTTP/1.1"), "pass", "within_limits"},
      {0ms,
       segment("\r\nHost\r\n0\r\n\r\n" + get("/next"),
               static_cast<std::uint32_t>(kChunked.size()) + 22),
       "pass", "within_limits"},
      {0ms, asks("/in/a").sport(2), "pass", "within_limits"},
      {0ms, asks("/next").sport(3), "drop", "over_limit", "paths", 1000ms}}},

    {"several requests of one segment are judged one by one, all or none",
     HEAD RULE("paths", "key: [http.request.uri.path], per: request, " ONE),
     {{0ms, segment(get("/a") + get("/b")), "pass", "within_limits"},
      {0ms, segment(get("/c") + get("/a")).sport(2), "drop", "over_limit", "paths", 1000ms},
      {0ms, asks("/c").sport(3), "pass", "within_limits"}}},

    {"the body of a refused request is refused with it",
     DENY("http.request.uri.path eq \"/form\""),
     {{0ms, segment(kPost), "drop", "deny_rule", "d"},
      {0ms, segment("0123456789", static_cast<std::uint32_t>(kPost.size())), "drop",
       "retransmission"}}},

    {"of what servers read differently all readings are charged",
     BY_HOST,
     {{0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "pass", "within_limits"},
      {0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "pass", "unmatched"},
      {0ms, segment(get("/", "a")).sport(2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, segment(get("/", "b")).sport(3), "drop", "over_limit", "hosts", 1000ms}}},

    {"where it ends for one server and not for another it is one request, and nothing behind it is "
     "read",
     BY_HOST,
     {{0ms, segment(kTwoFramings), "pass", "within_limits"},
      {0ms, segment(kTwoFramings), "pass", "unmatched"},
      {0ms, segment(get("/", "c"), size_of(kTwoFramings)), "pass", "unmatched"},
      {0ms, segment(get("/", "c")).sport(2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, segment(kTwoFramings).sport(3), "drop", "over_limit", "hosts", 1000ms},
      {5s, segment(kTwoFramings).sport(3), "drop", "retransmission"}}},

    {"and so is what is malformed",
     BY_HOST,
     {{0ms, segment(kMalformed + get("/", "c")), "pass", "within_limits"},
      {0ms, segment(get("/", "c"), size_of(kMalformed + get("/", "c"))), "pass", "unmatched"},
      {0ms, segment(kMalformed).sport(2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, segment(get("/", "c")).sport(3), "pass", "within_limits"}}},

    {"and only counted where all rules watch",
     HEAD "  - {id: hosts, key: [http.host], per: request, " ONE "}\n",
     {{0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "pass", "unmatched"}}},

    {"a word of some other protocol is not refused for its silence",
     BY_HOST,
     {{0ms, segment("PING"), "pass", "unmatched"},
      {30s, segment("PING", 4), "pass", "unmatched"},
      {60s, segment("\r\n", 8), "pass", "unmatched"},
      {61s, segment("PONG", 10), "pass", "unmatched"}}},

    {"a word that goes on as a request is one",
     BY_HOST,
     {{0ms, segment("GET"), "pass", "unmatched"},
      {30s, segment(" / HTTP/1.1\r\nHost: a.example\r\n\r\n", 3), "pass", "within_limits"},
      {30s, asks("/").sport(2), "drop", "over_limit", "hosts", 1000ms}}},

    {"a request that pauses for longer than heads may is given up, and the rest of it passes",
     BY_HOST,
     {{0ms, segment("GET / HT"), "pass", "unmatched"},
      {30s, segment("TP/1.1\r\nHost: a.example\r\n\r\n", 8), "pass", "unmatched"},
      {30s, asks("/").sport(2), "pass", "within_limits"}}},

    {"what lies before a connection's first byte is none of it",
     DENY("http.request.uri.path eq \"/evil\""),
     {{0ms, segment("", 999).flags(0x02), "pass", "unmatched"},
      {0ms, asks("/ok", 1000), "pass", "unmatched"},
      {0ms, segment(get("/evil"), 1000 - 39), "pass", "unmatched"},
      {0ms, asks("/evil", 1037), "drop", "deny_rule", "d"}}},

    {"a request to change the protocol hides none that follows it",
     DENY("http.request.uri.path eq \"/evil\""),
     {{0ms, segment("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\n"), "pass", "unmatched"},
      {0ms, segment("GET /evi", 38), "pass", "unmatched"},
      {0ms, segment("l HTTP/1.1\r\nHost: a\r\n\r\n", 46), "drop", "deny_rule", "d"}}},

    {"what a limit over bytes has kept back is judged when it is sent again",
     HEAD RULE("hosts", "key: [http.host], per: request, " ONE)
         RULE("bytes",
              "key: [], per: byte, limits: [{algorithm: token_bucket, rate: 100B/s, burst: 100B}]"),
     {{0ms, asks("/").sport(2), "pass", "within_limits"},
      {1000ms, segment("x").sport(3).payload(30), "pass", "within_limits"},
      {1000ms, asks("/"), "drop", "over_limit", "bytes", 450ms},
      {3000ms, asks("/"), "pass", "within_limits"},
      {5000ms, asks("/"), "pass", "within_limits"}}},

    {"chunks of a refused request are refused",
     DENY("http.request.uri.path eq \"/form\""),
     {{0ms, segment(kChunked), "drop", "deny_rule", "d"},
      {0ms, segment("5\r\nabcde\r\n", static_cast<std::uint32_t>(kChunked.size())), "drop",
       "retransmission"}}},

    {"behind a SYN, the second half of a head waits for the first",
     DENY("http.request.uri.path eq \"/evil\""),
     {{0ms, segment("").seq(kFirst - 1).flags(0x02), "pass", "unmatched"},
      {0ms, segment("l HTTP/1.1\r\nHost: a\r\n\r\n", 8), "pass", "unmatched"},
      {0ms, segment("GET /evi"), "drop", "deny_rule", "d"}}},

    {"what stands where an admitted request stood passes, and nothing behind it is read",
     BY_HOST,
     {{0ms, asks("/decoy"), "pass", "within_limits"},
      {0ms, asks("/login"), "pass", "unmatched"},
      {0ms, asks("/decoy"), "pass", "unmatched"},
      {0ms, asks("/next", 40), "pass", "unmatched"},
      {0ms, asks("/next").sport(2), "drop", "over_limit", "hosts", 1000ms}}},

    {"the last byte alone may be any: it keeps the connection alive",
     BY_HOST,
     {{0ms, asks("/decoy"), "pass", "within_limits"},
      {0ms, segment("\n", 39), "pass", "unmatched"},
      {0ms, asks("/next", 40), "drop", "over_limit", "hosts", 1000ms}}},

    {"what stands where a refused request stood is refused with it",
     BY_HOST,
     {{0ms, asks("/").sport(2), "pass", "within_limits"},
      {0ms, asks("/decoy"), "drop", "over_limit", "hosts", 1000ms},
      {2000ms, asks("/login"), "drop", "retransmission"},
      {2000ms, asks("/decoy"), "drop", "retransmission"}}},

    {"an admitted request passes again however it is cut, uncharged",
     BY_HOST,
     {{0ms, asks("/"), "pass", "within_limits"},
      {0ms, segment("GET / HT"), "pass", "unmatched"},
      {0ms, segment("TP/1.1\r\nHost: a.exam", 8), "pass", "unmatched"},
      {0ms, segment("TP/1.1\r\nHost: a.exam", 8), "pass", "unmatched"},
      {0ms, segment("ple\r\n\r\n", 28), "pass", "unmatched"},
      {0ms, asks("/"), "pass", "unmatched"},
      {0ms, asks("/next", 35), "drop", "over_limit", "hosts", 1000ms},
      {1000ms, asks("/").sport(2), "pass", "within_limits"}}},

    {"another one in its place passes, however it is cut, and nothing behind it is read",
     BY_HOST,
     {{0ms, asks("/decoy"), "pass", "within_limits"},
      {0ms, segment("GET /lo"), "pass", "unmatched"},
      {0ms, segment("gin HTTP/1.1\r\nHost: a.example\r\n\r", 7), "pass", "unmatched"},
      {0ms, segment("\n", 39), "pass", "unmatched"},
      {0ms, asks("/login", 40), "pass", "unmatched"}}},

    {"also where it came in parts, each of which may be sent again",
     BY_HOST,
     {{0ms, segment("GET /deco"), "pass", "unmatched"},
      {0ms, segment("y HTTP/1.1\r\nHost: a.exam", 9), "pass", "unmatched"},
      {0ms, segment("ple\r\n\r\n", 33), "pass", "within_limits"},
      {0ms, segment("y HTTP/1.1\r\nHost: a.exam", 9), "pass", "unmatched"},
      {0ms, segment("GET /decoy HTTP/1.1\r\nHost: a.exam"), "pass", "unmatched"},
      {0ms, asks("/next", 40), "drop", "over_limit", "hosts", 1000ms},
      {1s, segment("GET /logi"), "pass", "unmatched"},
      {1s, segment("n HTTP/1.1\r\nHost: a.exam", 9), "pass", "unmatched"},
      {1s, asks("/next", 79), "pass", "unmatched"}}},

    {"a request passes again with the beginning of the next one behind it",
     BY_HOST,
     {{0ms, segment("").seq(kFirst - 1).flags(0x02), "pass", "unmatched"},
      {0ms, segment(get("/") + get("/").substr(0, 9)), "pass", "within_limits"},
      {0ms, segment(get("/") + get("/").substr(0, 9)), "pass", "unmatched"},
      {0ms, segment(get("/").substr(9), static_cast<std::uint32_t>(get("/").size()) + 9), "drop",
       "over_limit", "hosts", 1000ms}}},

    {"and counted where all rules watch",
     HEAD "  - {id: hosts, key: [http.host], per: request, " ONE "}\n",
     {{0ms, asks("/decoy"), "pass", "unmatched"}, {0ms, asks("/login"), "pass", "unmatched"}}},

    {"a half head met again with other bytes passes, and neither is read",
     BY_HOST,
     {{0ms, segment("GET /decoy HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("GET /login HTTP/1.1\r\n"), "pass", "unmatched"},
      {0ms, segment("Host: a.example\r\n\r\n", 21), "pass", "unmatched"},
      {0ms, asks("/").sport(2), "pass", "within_limits"}}},
};

class HttpCase : public testing::TestWithParam<Case> {};

TEST_P(HttpCase, Holds) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_opened_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, HttpCase, testing::ValuesIn(kCases));

std::vector<std::string> reasons_of(const std::vector<Decision>& decisions) {
    std::vector<std::string> reasons;
    for (const Decision& decision : decisions) {
        reasons.emplace_back(row_of(decision.reason).name);
    }
    return reasons;
}

// What repeats a request of its own burst meets what has become of that.
TEST(HttpBurst, FollowsTheVerdictOfTheSameBurst) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{BY_HOST};
    box.find_units_by(parser.finder());
    for (const std::uint16_t sport : std::initializer_list<std::uint16_t>{40'000, 2, 3}) {
        box.open(asks("/").sport(sport), test::kStart);
    }
    const auto decisions = box.judge_burst(
        {asks("/").bytes(), asks("/").bytes(), asks("/").sport(2).bytes(),
         asks("/").sport(2).bytes(), segment(kPost).sport(3).bytes(),
         segment("0123456789", static_cast<std::uint32_t>(kPost.size())).sport(3).bytes()},
        test::kStart);
    EXPECT_EQ(reasons_of(decisions),
              (std::vector<std::string>{"within_limits", "unmatched", "over_limit",
                                        "retransmission", "over_limit", "retransmission"}));
}

TEST(HttpBurst, ChunksFollowTheirHead) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{DENY("http.request.uri.path eq \"/form\"")};
    box.find_units_by(parser.finder());
    box.open(segment(kChunked), test::kStart);
    const auto decisions = box.judge_burst(
        {segment(kChunked).bytes(),
         segment("5\r\nabcde\r\n", static_cast<std::uint32_t>(kChunked.size())).bytes()},
        test::kStart);
    EXPECT_EQ(reasons_of(decisions), (std::vector<std::string>{"deny_rule", "retransmission"}));
}

TEST(HttpBurst, WhatDiffersLeavesTheVerdictAlone) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{BY_HOST};
    box.find_units_by(parser.finder());
    box.open(asks("/decoy"), test::kStart);
    const auto first =
        box.judge_burst({asks("/decoy").bytes(), asks("/login").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(first), (std::vector<std::string>{"within_limits", "unmatched"}));
    const auto again = box.judge_burst({asks("/decoy").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(again), (std::vector<std::string>{"unmatched"}));
}

// A rule drops the copy of an admitted request, which has no fields of its own: the request stays
// admitted.
TEST(HttpBurst, ACopyThatIsDroppedForItselfLeavesTheVerdictAlone) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{HEAD RULE("hosts", "key: [http.host], per: request, " ONE)
                      RULE("bare", "when: 'not http.host contains \"a\"', on_match: drop")};
    box.find_units_by(parser.finder());
    box.open(asks("/"), test::kStart);
    const auto first = box.judge_burst({asks("/").bytes(), asks("/").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(first), (std::vector<std::string>{"within_limits", "deny_rule"}));
    const auto again = box.judge_burst({asks("/").bytes()}, test::kStart);
    EXPECT_EQ(reasons_of(again), (std::vector<std::string>{"deny_rule"}));
}

// Of two bursts on their way, the second is matched before the first is decided.
TEST(HttpBurst, FollowsTheVerdictOfTheBurstBefore) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{BY_HOST};
    Burst first;
    Burst second;
    first.find_units_by(parser.finder());
    second.find_units_by(parser.finder());
    box.open(first, asks("/"), test::kStart);
    box.open(first, asks("/").sport(2), test::kStart);
    const auto fill = [](Burst& burst, const std::vector<test::Octets>& frames) {
        burst.clear();
        for (const auto& frame : frames) {
            test::arrive(burst, frame);
        }
    };
    const std::vector<test::Octets> frames{asks("/").bytes(), asks("/").sport(2).bytes()};
    fill(first, frames);
    box.run_overlapped(first, second, test::kStart);
    fill(second, frames);
    box.run_overlapped(second, first, test::kStart);
    first.clear();
    box.run_overlapped(first, second, test::kStart);
    EXPECT_EQ(second.packets()[0].decision.reason, Reason::Unmatched);
    EXPECT_EQ(second.packets()[1].decision.reason, Reason::Retransmission);
}

}  // namespace
}  // namespace sluice::http_cases_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef ONE
#undef DENY
#undef BY_HOST
