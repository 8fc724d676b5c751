#include "lib/l7/stream/unit_parser.hpp"
#include "tests/packets/service_dialogue.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Connections to an enforced service whose beginning nobody saw, and bytes that were forwarded and
// forgotten: what is read is in the order in which the server takes it.
namespace sluice::service_midstream_test {
namespace {

using namespace std::chrono_literals;
using test::Case;
using test::client;
using test::Frame;
using test::kAck;
using test::kClientIss;
using test::kLogin;
using test::kLoginSize;
using test::opened;
using test::server;
using test::syn;
using test::syn_ack;

constexpr std::string_view kEnforced =
    "version: 1\nservices:\n  - {id: web, protocol: http, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 80', mode: enforce, checksums: trust}\nrules:\n  - {id: logins, mode: enforce, when: "
    "'http.request.uri.path eq \"/login\"', key: [ip.src], per: request, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}]}\n";
const std::string kPassing = [] {
    std::string rules{kEnforced};
    return rules.insert(rules.find(", checksums"), ", midstream: pass");
}();
constexpr Nanoseconds kHour{1h};
constexpr std::uint32_t kAt = 100;  // the server has acknowledged so many bytes
const std::string kFirst = kLogin.substr(0, 11);
const std::string kSecond = kLogin.substr(11);

// A segment of the client makes its server speak, and that says where it is.
std::vector<test::Step> found(std::vector<test::Step> steps) {
    steps.insert(steps.begin(), {{0ms, client(kLogin, kAt, 50), "pass", "unmatched"},
                                 {0ms, server("", 50, kAt), "pass", "unmatched"}});
    return steps;
}

const Case kCases[] = {
    {"a request is judged where its server is", kEnforced,
     found({{0ms, client(kLogin, kAt, 50), "pass", "within_limits"},
            {0ms, client(kLogin, kAt, 50), "pass", "unmatched"},
            {0ms, client(kLogin, kAt + kLoginSize, 50), "drop", "over_limit", "logins", kHour}})},

    {"halves backwards: the second comes again behind the first, and half a request ends it",
     kEnforced,
     found({{0ms, client(kSecond, kAt + 11, 50), "drop", "midstream"},
            {0ms, client(kFirst, kAt, 50), "reset", "midstream"}})},

    {"so does half a request behind others", kEnforced,
     found({{0ms, client(kLogin, kAt, 50), "pass", "within_limits"},
            {0ms, client(kFirst, kAt + kLoginSize, 50), "drop", "midstream"},
            {0ms, server("", 50, kAt + kLoginSize), "pass", "unmatched"},
            {0ms, client(kFirst, kAt + kLoginSize, 50), "reset", "midstream"}})},

    {"what lies ahead of it waits, and is charged in its place", kEnforced,
     found(
         {{0ms, client(kLogin, kAt + 3, 50), "drop", "midstream"},
          {0ms, client("abc" + kLogin, kAt, 50), "pass", "within_limits"},
          {0ms, client(kLogin, kAt + 3 + kLoginSize, 50), "drop", "over_limit", "logins", kHour}})},

    {"a body that was under way goes on, in order", kEnforced,
     found({{0ms, client("\x01 abc", kAt, 50), "pass", "unmatched"},
            {0ms, client("\x01 ghi", kAt + 10, 50), "drop", "midstream"},
            {0ms, client("\x01 def", kAt + 5, 50), "pass", "unmatched"},
            {0ms, client("\x01 ghi", kAt + 10, 50), "pass", "unmatched"},
            {0ms, client(kSecond, kAt + 26, 50), "drop", "midstream"},
            {0ms, client(kFirst, kAt + 15, 50), "drop", "midstream"},
            {0ms, client(kLogin, kAt + 15, 50), "pass", "within_limits"},
            {0ms, client(kSecond, kAt + 26 + kLoginSize, 50), "pass", "unmatched"}})},

    {"half a request that is one only behind the line before it ends the connection too", kEnforced,
     found({{0ms, client("x\nPO", kAt, 50), "pass", "unmatched"},
            {0ms, client("ST /x HTTP/1.1\r\nHost: a\r\n", kAt + 4, 50), "drop", "midstream"},
            {0ms, server("", 50, kAt + 4), "pass", "unmatched"},
            {0ms, client("ST /x HTTP/1.1\r\nHost: a\r\n", kAt + 4, 50), "reset", "midstream"}})},

    {"a line that two requests may begin in does", kEnforced,
     found(
         {{0ms, client("x\nPO", kAt, 50), "pass", "unmatched"},
          {0ms, server("", 50, kAt + 4), "pass", "unmatched"},
          {0ms, client("GET /x HTTP/1.1\r\nHost: a\r\n\r\n", kAt + 4, 50), "reset", "midstream"}})},

    {"who knows no numbers is charged to nobody",
     kEnforced,
     {{0ms, client(kLogin, 700'000, 900'000), "pass", "unmatched"},
      {0ms, client(kLogin, 7'000'000, 9'000'000), "pass", "unmatched"},
      {0ms, server("", 50, kAt), "pass", "unmatched"},
      {0ms, client(kLogin, 700'000, 900'000), "drop", "midstream"},
      {0ms, client(kLogin, kAt, 50), "pass", "within_limits"}}},

    {"where all passes a whole request is judged all the same, at once",
     kPassing,
     {{0ms, client(kLogin, kAt, 50), "pass", "within_limits"},
      {0ms, server("", 50, kAt + kLoginSize), "pass", "unmatched"},
      {0ms, client(kLogin, kAt + kLoginSize, 50), "drop", "over_limit", "logins", kHour}}},
    {"and one in two segments, in order",
     kPassing,
     {{0ms, client(kFirst, kAt, 50), "pass", "unmatched"},
      {0ms, client(kSecond, kAt + 11, 50), "pass", "within_limits"},
      {0ms, client(kLogin, kAt, 50).sport(9), "drop", "over_limit", "logins", kHour}}},
    {"and one whose second half comes first is served uncounted",
     kPassing,
     {{0ms, client(kSecond, kAt + 11, 50), "pass", "unmatched"},
      {0ms, client(kFirst, kAt, 50), "pass", "unmatched"},
      {0ms, client(kLogin, kAt, 50).sport(9), "pass", "within_limits"}}},

    {"a lost segment comes again before those behind it are read", kEnforced,
     opened({{0ms, client(kSecond, 11), "pass", "unmatched"},
             {0ms, client(kFirst), "pass", "within_limits"}})},
};

class ServiceMidstream : public testing::TestWithParam<Case> {};

TEST_P(ServiceMidstream, Holds) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{GetParam().rules};
    box.find_units_by(parser.finder());
    test::expect_steps(box, GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, ServiceMidstream, testing::ValuesIn(kCases));

TEST(ServiceMidstreamFrames, GoOnAsOldOnesUntilTheServerHasSpoken) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    Burst burst;
    burst.find_units_by(parser.finder());
    const test::Octets bytes = client(kLogin, kAt, 50).bytes();
    (void)burst.add({bytes, static_cast<std::uint32_t>(bytes.size())}, Direction::In,
                    port_name("lab"));
    box.run(burst, test::kStart);
    EXPECT_EQ(row_of(burst.packets()[0].decision.reason).name, "unmatched");
    ASSERT_TRUE(burst.normalizes());
    EXPECT_TRUE(burst.normalization(0).is_probe);
    EXPECT_EQ(parser.tracked().of(TrackEvent::Probed), 1U);
}

// Dialogues with a service of DNS over TCP, which inspects by default, as one of HTTP does.
constexpr std::string_view kNames =
    "version: 1\nservices:\n  - {id: names, protocol: dns, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 53', mode: enforce, checksums: trust}\nrules:\n  - {id: all, mode: enforce, key: [ip.src], "
    "per: query, limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n";
const std::string kQuery{"\0\x13\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 21};
constexpr std::uint32_t kQuerySize = 21;
const std::string kNoQuery{"\0\5abcde", 7};  // shorter than a header
// The beginning of a message of 65,535 bytes, as far as any is known by it.
const std::string kLong{"\xff\xff\x12\x34\1\0\0\1\0\0\0\0\0\0\1b\0\0\1\0\1", 21};
constexpr std::uint32_t kLongSize = 21;

constexpr std::string_view kNamesOneWay =
    "version: 1\nservices:\n  - {id: names, protocol: dns, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 53', mode: enforce, checksums: trust, path: inbound}\nrules:\n  - {id: all, mode: enforce, "
    "key: [ip.src], per: query, limits: [{algorithm: fixed_window, count: 1, window: 1h}]}\n";
constexpr std::string_view kNamed =
    "version: 1\nservices:\n  - {id: names, protocol: dns, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq 53', mode: enforce, checksums: trust}\nrules:\n  - {id: a, mode: enforce, when: 'dns.qname "
    "eq \"a\"', key: [ip.src], per: query, limits: [{algorithm: fixed_window, count: 1, window: "
    "1h}]}\n";
// A query with bytes behind its question: a line of HTTP, whose first letters are the length of
// another message.
const std::string kLined = [] {
    const std::string rest = "\nGET /x HTTP/1.1\r\n" + std::string(47, 'x') +
                             std::string("\0\0\1\0\1", 5) + std::string(2100, 'x');
    const std::size_t size = kQuery.size() - 2 + rest.size();
    return std::string{static_cast<char>(size >> 8), static_cast<char>(size & 0xFF)} +
           kQuery.substr(2) + rest;
}();

Frame asks(const std::string& text, std::uint32_t at) {
    return client(text, at, 50).dport(53);
}
Frame has(std::uint32_t at) {
    return server("", 50, at).sport(53);
}
const Case kNameCases[] = {
    {"a query is judged where its server is",
     kNames,
     {{0ms, asks(kQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt), "pass", "within_limits"},
      {0ms, asks(kQuery, kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt + kQuerySize), "drop", "over_limit", "all", kHour}}},

    {"after the grace nothing tells where a message begins, and the connection ends",
     kNames,
     {{0ms, has(kAt), "pass", "unmatched"},
      {5min, asks(kQuery, kAt), "pass", "unmatched"},
      {5min, has(kAt), "pass", "unmatched"},
      {5min, asks(kQuery, kAt), "reset", "midstream"}}},

    {"so does one that was read in the grace",
     kNames,
     {{0ms, asks(kQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt), "pass", "within_limits"},
      {0ms, has(kAt + kQuerySize), "pass", "unmatched"},
      {59s, asks(kQuery, kAt), "pass", "unmatched"},
      {61s, asks(kQuery, kAt + 2 * kQuerySize), "drop", "midstream"},
      {61s, asks(kQuery, kAt), "pass", "unmatched"},
      {61s, asks(kQuery, kAt + kQuerySize), "reset", "midstream"}}},

    {"what may begin a long message holds nothing that its server may take for a query",
     kNames,
     {{0ms, asks(kLong + kQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt + kLongSize), "drop", "midstream"},
      {0ms, asks(kLong + kQuery, kAt), "reset", "midstream"},
      {0ms, asks(kQuery + kLong, kAt).sport(9), "pass", "unmatched"},
      {0ms, has(kAt).dport(9), "pass", "unmatched"},
      {0ms, asks(kQuery + kLong, kAt).sport(9), "reset", "midstream"}}},

    {"nor behind messages that were judged",
     kNames,
     {{0ms, asks(kQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt), "pass", "within_limits"},
      {0ms, asks(kLong + kQuery, kAt + kQuerySize), "drop", "midstream"},
      {0ms, has(kAt + kQuerySize), "pass", "unmatched"},
      {0ms, asks(kLong + kQuery, kAt + kQuerySize), "reset", "midstream"}}},

    {"half a query ends the connection",
     kNames,
     {{0ms, asks(kQuery.substr(0, 2), kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery.substr(2), kAt + 2), "drop", "midstream"},
      {0ms, asks(kQuery.substr(0, 2), kAt), "reset", "midstream"}}},

    {"what is no query is refused at the number that its server acknowledges, in the grace too",
     kNames,
     {{0ms, asks(kNoQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kNoQuery, kAt), "drop", "unreadable"},
      {5min, asks(kNoQuery, kAt).sport(7), "pass", "unmatched"},
      {5min, has(kAt).dport(7), "pass", "unmatched"},
      {5min, asks(kNoQuery, kAt).sport(7), "reset", "midstream"}}},

    {"a query that has a line of HTTP in it begins where it does",
     kNamed,
     {{0ms, asks(kLined, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kLined, kAt), "pass", "within_limits"}}},

    {"the rest of a message brings no query with it that nobody has judged, in the grace either",
     kNames,
     {{0ms, asks(kNoQuery + kQuery, kAt), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kNoQuery + kQuery, kAt), "drop", "unreadable"},
      {0ms, asks(kQuery, kAt).sport(8), "pass", "unmatched"},
      {0ms, has(kAt).dport(8), "pass", "unmatched"},
      {0ms, asks(kQuery, kAt).sport(8), "pass", "within_limits"}}},

    {"one way nothing tells what its server makes of the rest of a message",
     kNamesOneWay,
     {{0ms, asks(kQuery, kAt).sport(9), "pass", "within_limits"},
      {5min, asks(kLong + kQuery, kAt), "pass", "unmatched"}}},

    {"who knows no numbers is charged to nobody",
     kNames,
     {{0ms, asks(kQuery, 700'000), "pass", "unmatched"},
      {0ms, has(kAt), "pass", "unmatched"},
      {0ms, asks(kQuery, 700'000), "drop", "midstream"},
      {0ms, asks(kQuery, kAt), "pass", "within_limits"}}},
};
INSTANTIATE_TEST_SUITE_P(OfDns, ServiceMidstream, testing::ValuesIn(kNameCases));

// A hello with a line of HTTP in it, on a connection that nobody knows.
constexpr std::string_view kHellos =
    "version: 1\nservices:\n  - {id: tls, protocol: tls, when: 'ip.dst eq 192.0.2.1 and l4.dport "
    "eq "
    "443', mode: enforce, checksums: trust, midstream: inspect}\nrules:\n  - {id: a, mode: "
    "enforce, "
    "when: 'tls.sni eq \"a.example\"', key: [ip.src], per: handshake, limits: [{algorithm: "
    "fixed_window, count: 1, window: 1h}]}\n";
Frame greets(std::uint32_t at) {
    const test::Octets line = test::bytes_of_text("\nGET /x HTTP/1.1\r\n");
    return client("", at, 50)
        .dport(443)
        .carries(test::HelloMaker{}.extension(21, line).sni("a.example").records());
}
const Case kHelloCases[] = {
    {"a hello begins where its bytes do",
     kHellos,
     {{0ms, greets(kAt), "pass", "unmatched"},
      {0ms, server("", 50, kAt).sport(443), "pass", "unmatched"},
      {0ms, greets(kAt), "pass", "within_limits"}}},
};
INSTANTIATE_TEST_SUITE_P(OfTls, ServiceMidstream, testing::ValuesIn(kHelloCases));

// A panic forwards what nobody reads; what was under way meanwhile gets the time of a start.
TEST(ServiceMidstreamGrace, BeginsAgainWhereAPanicEnds) {
    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    box.find_units_by(parser.finder());
    Instant now = test::kStart;
    std::uint16_t port = 1;
    const auto reason = [&](const Frame& frame) {
        return std::string{row_of(box.judge(frame, now).reason).name};
    };
    const auto goes_on = [&] {
        ++port;
        (void)reason(client("\x01 abc", kAt, 50).sport(port));
        (void)reason(server("", 50, kAt).dport(port));
        return reason(client("\x01 abc", kAt, 50).sport(port)) == "unmatched";
    };
    EXPECT_TRUE(goes_on()) << "the grace of the start";
    now += 10min;
    EXPECT_FALSE(goes_on());
    box.forward_unread();
    now += 10min;
    EXPECT_TRUE(goes_on()) << "the first burst behind the panic begins it";
    now += 59s;
    EXPECT_TRUE(goes_on());
    now += 2s;
    EXPECT_FALSE(goes_on());
    EXPECT_EQ(reason(client(kLogin, 900'000, 50).sport(port)), "midstream");
}

// On connections from before, each with a client of its own, lines in two segments.
class LinesInTwo : public testing::Test {
protected:
    struct Line {
        std::string text;
        std::size_t cut;
        std::string source;
        std::uint32_t at = kAt;
        bool goes_on = true;
        unsigned served = 0;
    };
    LinesInTwo() {
        box.find_units_by(parser.finder());
        (void)box.judge(client("").sport(1), now);
    }
    void add(const std::string& text, std::size_t cut) {
        const std::size_t number = lines.size();
        const std::string source =
            "10." + std::to_string(number / 250) + "." + std::to_string(number % 250) + ".1";
        Line& line = lines.emplace_back(Line{text, cut, source});
        (void)box.judge(client(kLogin, kAt, 50).src(source), now);
        (void)box.judge(server("", 50, kAt).dst(line.source), now);
    }
    // Whether it goes on; if so, its server acknowledges it.
    bool goes(Line& line, const std::string& part) {
        const Frame segment = client(part, line.at, 50).src(line.source);
        line.goes_on = line.goes_on && forwards(box.judge(segment, now).verdict);
        line.at += line.goes_on ? static_cast<std::uint32_t>(part.size()) : 0U;
        (void)box.judge(server("", 50, line.at).dst(line.source), now);
        return line.goes_on;
    }
    void send(Line& line) {
        const std::uint64_t before = box.counters(0).admitted.read();
        if (goes(line, line.text.substr(0, line.cut)) && goes(line, line.text.substr(line.cut))) {
            ++line.served;
            EXPECT_EQ(box.counters(0).admitted.read() - before, 1U)
                << line.text << " cut at " << line.cut << ", time " << line.served;
        }
    }

    UnitParser parser{capture_unit_budget()};
    test::Box box{kEnforced};
    Instant now = test::kStart;
    std::vector<Line> lines;
};

TEST_F(LinesInTwo, AreNotServedUncountedHoweverOftenAndLong) {
    const std::string rest = "\r\nHost: a\r\n\r\n";
    for (const std::string& text :
         {"GET /login HTTP/1.1" + rest, "GET  /login HTTP/1.1" + rest,
          "GET \t/login HTTP/1.1" + rest, "GET x://h/login HTTP/1.1" + rest,
          "\r\nGET /login HTTP/1.1" + rest, "x\nGET  /login HTTP/1.1" + rest,
          " \vGET /login HTTP/1.1" + rest, std::string{"GET /login\r\n"},
          std::string{"ODD\f/login HTTP/1.0\n\n"}}) {
        for (std::size_t cut = 1; cut < text.size(); ++cut) {
            add(text, cut);
        }
    }
    // Some of them behind the time of grace that all have begun in.
    for (int round = 0; round < 3; ++round, now += 40s) {
        for (Line& line : lines) {
            send(line);
        }
    }
    EXPECT_GE(std::count_if(lines.begin(), lines.end(),
                            [](const Line& line) { return line.served != 0; }),
              4)
        << "those that go on with a word alone are read as one line";
}

// Segments of a body that was under way, and the request behind it.
TEST(ServiceMidstreamBodies, GoOnAndTheRequestBehindThemIsCounted) {
    struct Row {
        const char* name;
        std::vector<std::string> segments;
        const char* behind = "within_limits";
    };
    for (const Row& row : {
             Row{"text", {"words of an upload that", " goes on\nin li", "nes of wo", "rds.\n"}},
             Row{"JSON", {"{\"a\": [1, 2", ", 3], \"b\": \"GE", "{ x\", \"c\": 1}"}},
             Row{"digits",
                 {std::string(1400, 'a'), std::string(1400, 'b'), std::string(1400, '0'), "\r\n"}},
             Row{"digits without an end", std::vector<std::string>(40, std::string(1000, 'f'))},
             Row{"JSON cut before a word", {"{\"a\": \"GE", "T x\", \"c\": 1}"}, "midstream"},
             Row{"text without an end", {"words of an upload that", " goes on"}, "midstream"},
             Row{"a form", {"a=1&b=", "2&c=3"}},
             Row{"binary", {{"\x16\x03\0 /", 5}, "ab\ncd", std::string(500, '\xE1'), "\n"}},
         }) {
        SCOPED_TRACE(row.name);
        UnitParser parser{capture_unit_budget()};
        test::Box box{kEnforced};
        box.find_units_by(parser.finder());
        std::uint32_t at = kAt;
        (void)box.judge(client(row.segments.front(), at, 50), test::kStart);
        (void)box.judge(server("", 50, at), test::kStart);
        for (const std::string& segment : row.segments) {
            for (int times = 0; times < 2; ++times) {
                EXPECT_TRUE(forwards(box.judge(client(segment, at, 50), test::kStart).verdict))
                    << segment;
            }
            at += static_cast<std::uint32_t>(segment.size());
            (void)box.judge(server("", 50, at), test::kStart);
        }
        const bool is_word = row.segments.size() == 40;
        EXPECT_EQ(
            row_of(box.judge(client((is_word ? "\n" : "") + kLogin, at, 50), test::kStart).reason)
                .name,
            row.behind);
    }
}

// What ends with half a line ends as it would in any other body.
TEST(ServiceMidstreamBodies, MayEndWithTheConnection) {
    for (const auto& [end, passes] :
         {std::pair{"the end of it", true}, std::pair{"end", true}, std::pair{"GET end", false}}) {
        UnitParser parser{capture_unit_budget()};
        test::Box box{kEnforced};
        box.find_units_by(parser.finder());
        (void)box.judge(client("x", kAt, 50), test::kStart);
        (void)box.judge(server("", 50, kAt), test::kStart);
        EXPECT_TRUE(forwards(box.judge(client(end, kAt, 50), test::kStart).verdict)) << end;
        const auto size = static_cast<std::uint32_t>(std::string_view{end}.size());
        (void)box.judge(server("", 50, kAt + size), test::kStart);
        EXPECT_EQ(
            forwards(box.judge(client("", kAt + size, 50).flags(test::kFin | kAck), test::kStart)
                         .verdict),
            passes)
            << end;
    }
}

// A table whose connections and whose refusals others have crowded out.
class Forgotten : public testing::Test {
protected:
    static UnitBudget small() {
        UnitBudget budget = capture_unit_budget();
        budget.connections.connections = 2;
        return budget;
    }
    Forgotten() { box.find_units_by(parser.finder()); }
    std::string take(const Frame& frame, std::uint16_t port = 40'000) {
        Frame made = frame;
        made.dir() == Direction::In ? made.sport(port) : made.dport(port);
        return std::string{row_of(box.judge(made, now).reason).name};
    }
    void open(std::uint16_t port) {
        EXPECT_EQ(take(syn(), port), "unmatched");
        EXPECT_EQ(take(syn_ack(), port), "unmatched");
        EXPECT_EQ(take(client(""), port), "unmatched");
    }
    UnitParser parser{small()};
    test::Box box{kEnforced};
    Instant now = test::kStart;
};

// The line of a connection goes by its time, the tracker's stays.
TEST_F(Forgotten, BytesAheadThatWentOnAreNotForgottenWithTheirLine) {
    open(40'000);
    EXPECT_EQ(take(client(kSecond, 11)), "unmatched");
    for (int minute = 0; minute < 40; ++minute) {
        now += 1min;
        EXPECT_EQ(take(server("", 0, 0)), "unmatched") << "its server keeps it";
        EXPECT_EQ(take(client("", 0)), "unmatched");
    }
    EXPECT_EQ(take(client(kFirst)), "lost_head");
    EXPECT_EQ(take(client(kLogin)), "within_limits") << "all of it";
    EXPECT_GE(parser.service_connections().of(ConnectionEvent::AheadForgotten), 1U);
}

TEST_F(Forgotten, AQuietConnectionBeginsWhereItsServerIs) {
    open(40'000);
    EXPECT_EQ(take(client("GET /x HTTP/1.1\r\n\r\n")), "unmatched");
    EXPECT_EQ(take(server("", 0, 19)), "unmatched");
    for (int minute = 0; minute < 40; ++minute) {
        now += 1min;
        EXPECT_EQ(take(server("", 0, 19)), "unmatched");
    }
    EXPECT_EQ(take(client(kSecond, 19 + 11)), "unmatched") << "held: it is ahead";
    EXPECT_EQ(take(client(kFirst, 19)), "within_limits");
    EXPECT_EQ(take(client(kLogin, 19 + kLoginSize)), "over_limit");
}

// Others' lines in a table say nothing of a connection that nobody knows.
TEST_F(Forgotten, StrangersBytesPassByNobodyElsesConnection) {
    const auto expect_strangers_refused = [this](std::uint16_t from) {
        for (std::uint16_t port = from; port < from + 60; ++port) {
            (void)take(client("\x01 abc", kAt, 50), port);
            EXPECT_EQ(take(server("", 50, kAt), port), "unmatched");
            EXPECT_EQ(take(client("\x01 abc", kAt, 50), port), "midstream") << port;
        }
    };
    open(40'000);
    EXPECT_EQ(take(client("GET /x HTTP/1.1\r\n\r\n"), 40'000), "unmatched");
    now += 61s;
    for (std::uint16_t port = 1; port <= 64; ++port) {
        open(port);
        EXPECT_EQ(take(client("GET /x HTTP/1.1\r\n\r\n"), port), "unmatched");
    }
    expect_strangers_refused(1000);
    for (std::uint16_t port = 101; port <= 164; ++port) {
        open(port);
        (void)take(client(kFirst), port);
    }
    EXPECT_GE(parser.service_connections().of(ConnectionEvent::EvictedHalfHead), 1U);
    expect_strangers_refused(2000);
}

}  // namespace
}  // namespace sluice::service_midstream_test
