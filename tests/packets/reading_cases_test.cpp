#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

// Requests that servers read differently, judged as each of their readings, as wherever no
// service is declared.
namespace sluice::reading_cases_test {
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

#define HEAD "version: 1\nrules:\n"
#define TOKENS(rate, burst) "{algorithm: token_bucket, rate: " rate ", burst: " burst "}"
#define RULE(id, rest) "  - {id: " id ", mode: enforce, " rest "}\n"
#define ONE "limits: [" TOKENS("1/s", "1") "]"
#define DENY(when) HEAD RULE("d", "when: '" when "', on_match: drop")
#define BY_HOST HEAD RULE("hosts", "key: [http.host], per: request, " ONE)

const Case kCases[] = {
    {"of two hosts, the keys of both are charged",
     BY_HOST,
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, sends(head("/", "Host: b\r\n"), 3), "drop", "over_limit", "hosts", 1000ms},
      {0ms, sends(head("/", "Host: c\r\n"), 4), "pass", "within_limits"}}},

    {"and if one of them has no room, none is",
     BY_HOST,
     {{0ms, sends(head("/", "Host: b\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, sends(head("/", "Host: a\r\n"), 3), "pass", "within_limits"}}},

    {"a host that is the same twice is one reading",
     BY_HOST,
     {{0ms, sends(head("/", "Host: a\r\nHost: A.\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 2), "drop", "over_limit", "hosts", 1000ms}}},

    {"the target's host and the header's",
     DENY("http.host eq \"b\""),
     {{0ms, sends(head("http://a/", "Host: b\r\n"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://b/", "Host: a\r\n"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://a/", "Host: c\r\n"), 3), "pass", "unmatched"}}},

    {"a key that all readings have is charged once",
     HEAD RULE("src", "key: [ip.src], per: request, limits: [" TOKENS("1/s", "2") "]")
         RULE("hosts", "key: [http.host], per: request, limits: [" TOKENS("1/s", "9") "]"),
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 2), "pass", "within_limits"},
      {0ms, sends(head("/"), 3), "drop", "over_limit", "src", 1000ms}}},

    {"the values of all readings count, each once",
     HEAD RULE("values",
               "key: [ip.src], per: request, limits: [{algorithm: distinct, of: "
               "http.host, count: 2, window: 1h}]"),
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: c\r\n"), 2), "drop", "over_limit", "values", 1h},
      {0ms, sends(head("/", "Host: a\r\nHost: c\r\n"), 3), "drop", "over_limit", "values", 1h},
      {0ms, sends(head("/x/..%2fy", "Host: b\r\n"), 4), "pass", "within_limits"}}},

    {"and of packets",
     HEAD RULE("values",
               "key: [ip.src], limits: [{algorithm: distinct, of: http.host, count: 1, "
               "window: 1h}]"),
     {{0ms, sends(head("/", "Host: a\r\n"), 1), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 2), "drop", "over_limit", "values", 1h},
      {0ms, sends(head("/x/..%2fy"), 3), "pass", "within_limits"}}},

    {"limits of packets charge the keys of all readings too",
     HEAD RULE("paths", "key: [http.request.uri.path], " ONE),
     {{0ms, sends(head("/x1/..%2flogin"), 1), "pass", "within_limits"},
      {0ms, sends(head("/x2/..%2flogin"), 2), "drop", "over_limit", "paths", 1000ms},
      {0ms, sends(head("/x2/..%2Flogin/"), 3), "pass", "within_limits"}}},

    {"and of two requests in one segment the first",
     HEAD RULE("hosts", "key: [http.host], " ONE),
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n") + head("/", "Host: c\r\nHost: d\r\n"), 1),
       "pass", "within_limits"},
      {0ms, sends(head("/", "Host: d\r\n"), 2), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: c\r\n"), 3), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: b\r\n"), 4), "drop", "over_limit", "hosts", 1000ms}}},

    {"two requests of one segment are charged twice, whatever their readings",
     HEAD RULE("src", "key: [ip.src], per: request, limits: [" TOKENS("1/s", "2") "]")
         RULE("hosts", "key: [http.host], per: request, limits: [" TOKENS("1/s", "9") "]"),
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n") + head("/", "Host: a\r\nHost: c\r\n"), 1),
       "pass", "within_limits"},
      {0ms, sends(head("/"), 2), "drop", "over_limit", "src", 1000ms}}},

    {"of a key that all readings have, the dearest is charged",
     HEAD RULE("src", "key: [ip.src], per: request, cost: {path: {\"/dear\": 5}}, limits: [" TOKENS(
                          "1/s", "10") "]"),
     {{0ms, sends(head("/dear b"), 1), "pass", "within_limits"},
      {0ms, sends(head("/dear"), 2), "pass", "within_limits"},
      {0ms, sends(head("/"), 3), "drop", "over_limit", "src", 1000ms}}},

    {"a target with blanks, with a fragment, with a % alone; one of no form is no request's",
     DENY("http.request.uri.path matches \"^/(a|b b|c#d|e|%)$\""),
     {{0ms, sends(head("/a b"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/b b"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/c#d"), 3), "drop", "deny_rule", "d"},
      {0ms, sends(head("e"), 4), "pass", "unmatched"},
      {0ms, sends(head("/%"), 5), "drop", "deny_rule", "d"},
      {0ms, sends(head("/x y"), 6), "pass", "unmatched"}}},

    {"a % alone in the target of a proxy, too",
     DENY("http.request.uri.path in {\"/%25zz\" \"/b;%25\"}"),
     {{0ms, sends(head("http://a/%zz"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://a/b%3B%"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://a/c/..%2f%zz"), 3), "drop", "deny_rule", "d"}}},

    {"%2F is a slash for some servers and none for others",
     DENY("http.request.uri.path in {\"/a/b\" \"/c%2Fd\" \"/f\"}"),
     {{0ms, sends(head("/a%2fb"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/c%2Fd"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/e/..%2Ff"), 3), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://a/a%2Fb"), 4), "drop", "deny_rule", "d"},
      {0ms, sends(head("/c/d"), 5), "pass", "unmatched"},
      {0ms, sends(head("/a%2Fc"), 6), "pass", "unmatched"},
      {0ms, sends(head("/a%252Fb"), 7), "pass", "unmatched"}}},

    {"what a path may have as itself some servers decode",
     DENY("http.request.uri.path in {\"/a;b\" \"/c%3Bd\" \"/e\\\\f\"}"),
     {{0ms, sends(head("/a%3bb"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/c%3bd"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/e%5Cf"), 3), "drop", "deny_rule", "d"},
      {0ms, sends(head("/x%3Bb"), 4), "pass", "unmatched"},
      {0ms, sends(head("/a%23b"), 5), "pass", "unmatched"}}},

    {"some servers do not resolve dots",
     DENY("http.request.uri.path matches \"^/login/\" or http.request.uri.path eq \"/b\""),
     {{0ms, sends(head("/login/../x"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a/%2e%2e/b"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("http://a/login/../x"), 3), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a/../x"), 4), "pass", "unmatched"}}},

    {"three readings of a path are nothing to rules that read none",
     HEAD RULE("hosts", "when: 'l4.dport eq 80', key: [http.host], per: request, limits: [" TOKENS(
                            "1/s", "9") "]"),
     {{0ms, sends(head("/a%2Fb%3Bc"), 1), "pass", "within_limits"},
      {0ms, sends(head("/a/../b%3Bc"), 2), "pass", "within_limits"}}},
    {"of two doubts about a path all readings are judged",
     DENY("http.request.uri.path in {\"/b%3Bc\" \"/a/b;c\" \"/d/e;f\"}"),
     {{0ms, sends(head("/a/../b%3Bc"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a%2Fb%3Bc"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a/./b%2Fc"), 3), "pass", "unmatched"},
      {0ms, sends(head("/x/../d%2Fe%3Bf"), 4), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a%2Fb"), 5), "pass", "unmatched"}}},

    {"what a reading lacks is absent in it",
     DENY("http.request.uri.path eq \"/a\" and not http.request.uri.query eq \"q\""),
     {{0ms, sends(head("/a b?q"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a?q"), 2), "pass", "unmatched"}}},

    {"the first and the last of a header and of a cookie that rules name",
     DENY("http.request.headers[\"x\"] eq \"2\" or http.cookies[\"c\"] eq \"2\""),
     {{0ms, sends(head("/", "Host: a\r\nX: 1\r\nX: 2\r\n"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/", "Host: a\r\nX: 2\r\nX: 1\r\n"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=1; c=2\r\n"), 3), "drop", "deny_rule", "d"},
      {0ms, sends(head("/", "Host: a\r\nX: 1\r\nX: 1\r\n"), 4), "pass", "unmatched"}}},

    {"a cookie between the first and the last, beside the first of another",
     DENY("http.cookies[\"c\"] eq \"2\" and http.cookies[\"d\"] eq \"1\""),
     {{0ms, sends(head("/", "Host: a\r\nCookie: d=1; c=1; c=2; c=3\r\n"), 1), "drop", "deny_rule",
       "d"},
      {0ms,
       sends(head("/", "Host: a\r\nCookie: c=1; d=1\r\nCookie: c=2; d=2\r\nCookie: c=3\r\n"), 2),
       "drop", "deny_rule", "d"},
      {0ms, sends(head("/", "Host: a\r\nCookie: d=2; c=1; c=2; c=3; d=3\r\n"), 3), "pass",
       "unmatched"}}},

    {"of cookies the keys of all are charged, each once",
     HEAD RULE("sessions", "key: ['http.cookies[\"c\"]'], per: request, " ONE),
     {{0ms, sends(head("/", "Host: a\r\nCookie: c=1; c=2\r\nCookie: c=2; c=3\r\n"), 1), "pass",
       "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=2\r\n"), 2), "drop", "over_limit", "sessions",
       1000ms},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=4; c=2; c=5\r\n"), 3), "drop", "over_limit",
       "sessions", 1000ms},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=4\r\n"), 4), "pass", "within_limits"}}},

    {"the first and the last of a header that also frames requests",
     DENY("http.request.headers[\"cookie\"] eq \"c=2\" or "
          "http.request.headers[\"connection\"] eq \"x\""),
     {{0ms, sends(head("/", "Host: a\r\nCookie: c=1\r\nCookie: c=2\r\n"), 1), "drop", "deny_rule",
       "d"},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=2\r\nCookie: c=1\r\n"), 2), "drop", "deny_rule",
       "d"},
      {0ms, sends(head("/", "Host: a\r\nConnection: y\r\nConnection: x\r\n"), 3), "drop",
       "deny_rule", "d"},
      {0ms, sends(head("/", "Host: a\r\nCookie: c=1\r\nCookie: c=1\r\n"), 4), "pass",
       "unmatched"}}},

    {"readings of several places are combined",
     DENY("http.host eq \"b\" and http.request.uri.path eq \"/a\""),
     {{0ms, sends(head("/a#x", "Host: a\r\nHost: b\r\n"), 1), "drop", "deny_rule", "d"},
      {0ms, sends(head("/a x", "Host: b\r\nHost: a\r\n"), 2), "drop", "deny_rule", "d"},
      {0ms, sends(head("/c#x", "Host: a\r\nHost: b\r\n"), 3), "pass", "unmatched"}}},

    {"an allowed reading does not speak for a refused one",
     HEAD RULE("ok", "when: 'http.host eq \"a\"', on_match: allow")
         RULE("no", "when: 'http.host eq \"b\"', on_match: drop"),
     {{0ms, sends(head("/", "Host: a\r\nHost: b\r\n"), 1), "drop", "deny_rule", "no"},
      {0ms, sends(head("/", "Host: a\r\n"), 2), "pass", "allow_rule", "ok"}}},

    {"of three readings of one place the first is charged, and nothing behind it is read",
     BY_HOST,
     {{0ms, sends(head("http://a/", "Host: b\r\nHost: c\r\n") + head("/", "Host: d\r\n"), 1),
       "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 2), "drop", "over_limit", "hosts", 1000ms},
      {0ms, sends(head("/", "Host: d\r\n"), 3), "pass", "within_limits"}}},

    {"where servers disagree where a request ends, or may, it is one and the rest is not read",
     HEAD RULE("all", "key: [ip.src], per: request, limits: [" TOKENS("1/s", "7") "]"),
     {{0ms,
       sends(
           head("/", "Host: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n") + head("/"),
           1),
       "pass", "within_limits"},
      {0ms,
       sends(head("/", "Host: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n") + head("/"), 2),
       "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nTransfer-Encoding : chunked\r\n") + head("/"), 3), "pass",
       "within_limits"},
      {0ms, sends(head("/", "Host: a\nHost: b\r\n") + head("/"), 4), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\nHost: b\r\nX: y\r\n z\r\n") + head("/"), 5), "pass",
       "within_limits"},
      {0ms, sends(head("/", "Host: a b\r\n") + head("/"), 7), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 8), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 9), "drop", "over_limit", "all", 1000ms}}},

    {"a host that is none is charged as the other one, too",
     BY_HOST,
     {{0ms, sends(head("/", "Host: a\r\nHost: b c\r\n"), 6), "pass", "within_limits"},
      {0ms, sends(head("/", "Host: a\r\n"), 8), "drop", "over_limit", "hosts", 1000ms}}},
};

class ReadingCase : public testing::TestWithParam<Case> {};

// Without a service the option says nothing.
TEST_P(ReadingCase, Holds) {
    for (const OnAmbiguous option : {OnAmbiguous::Refuse, OnAmbiguous::Both}) {
        UnitBudget budget = capture_unit_budget();
        budget.on_ambiguous = option;
        UnitParser parser{budget};
        test::Box box{GetParam().rules};
        box.find_units_by(parser.finder());
        test::expect_opened_steps(box, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(All, ReadingCase, testing::ValuesIn(kCases));

// A rule counts a request once that it matches in several readings, and each key that it charges.
TEST(Readings, ARuleCountsARequestOnce) {
    UnitBudget budget = capture_unit_budget();
    budget.on_ambiguous = OnAmbiguous::Both;
    UnitParser parser{budget};
    test::Box box{HEAD RULE("d", "when: 'http.request.method eq \"GET\"', on_match: drop")
                      RULE("hosts", "key: [http.host], per: request, " ONE)};
    box.find_units_by(parser.finder());
    const Frame both = sends(head("/", "Host: a\r\nHost: b\r\n"), 1);
    box.open(both, test::kStart);
    (void)box.judge(both.bytes(), test::kStart);
    EXPECT_EQ(box.counters(0).exceeded.read(), 1U);
}

// In its first reading the request never comes to the rule that refuses another one.
TEST(Readings, ARuleThatDecidesInALaterReadingCountsIt) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{HEAD RULE("ok", "when: 'http.host eq \"a\"', on_match: allow")
                      RULE("no", "when: 'http.request.method eq \"GET\"', on_match: drop")};
    box.find_units_by(parser.finder());
    const Frame both = sends(head("/", "Host: a\r\nHost: b\r\n"), 1);
    box.open(both, test::kStart);
    (void)box.judge(both.bytes(), test::kStart);
    EXPECT_EQ(box.counters(0).admitted.read(), 0U);
    EXPECT_EQ(box.counters(0).skipped.read(), 1U);
    EXPECT_EQ(box.counters(1).exceeded.read(), 1U);
    EXPECT_EQ(box.counters(1).exceeded_bytes.read(), both.bytes().size());
}

}  // namespace
}  // namespace sluice::reading_cases_test

#undef HEAD
#undef TOKENS
#undef RULE
#undef ONE
#undef DENY
#undef BY_HOST
