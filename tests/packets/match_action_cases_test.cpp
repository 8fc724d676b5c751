#include "tests/packets/answered_client.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// `on_match` with an action: what it decides, and what the box sends for it.
namespace sluice::match_action_cases_test {
namespace {

using test::AnsweringBox;
using test::Frame;
using namespace test::answered_client;
using Lines = std::vector<std::string>;

std::string get(std::string_view host) {
    return "GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n";
}
const std::string kClosed = get("closed.example");
const auto kClosedSize = static_cast<std::uint32_t>(kClosed.size());

std::string rule(std::string_view id, std::string_view when, std::string_view on_match,
                 std::string_view mode = "enforce") {
    return "  - {id: " + std::string{id} + ", mode: " + std::string{mode} + ", when: '" +
           std::string{when} + "', on_match: " + std::string{on_match} + "}\n";
}
std::string file(const std::string& rules) {
    return "version: 1\nrules:\n" + rules;
}
constexpr std::string_view kOfClosed = "http.host eq \"closed.example\"";
constexpr std::string_view kForbids = "{action: reply, status: 403, body: no}";
const std::string kForbidden = file(rule("closed", kOfClosed, kForbids));

struct Moment {
    const char* what;
    std::string_view when;
    std::string_view on_match;
    Frame frame;
    Lines lines;
};

const Moment kMoments[] = {
    {"a request is answered, and its server's connection ends",
     kOfClosed,
     kForbids,
     from_client(kClosed),
     {"< FPA 7:1040 169", "> RA 1000:7", "reply deny_rule"}},
    {"what does not match goes on",
     kOfClosed,
     kForbids,
     from_client(get("open.example")),
     {"pass unmatched"}},
    {"so does what opens the connection",
     kOfClosed,
     kForbids,
     from_client({}, 0, kSyn),
     {"pass unmatched"}},
    {"a decoy",
     kOfClosed,
     "{action: decoy, body: ok}",
     from_client(kClosed),
     {"< FPA 7:1040 162", "> RA 1000:7", "decoy deny_rule"}},
    {"a request is reset",
     kOfClosed,
     "{action: reset}",
     from_client(kClosed),
     {"< RA 7:1040", "> RA 1000:7", "reset deny_rule"}},
    {"a drop is one", kOfClosed, "{action: drop}", from_client(kClosed), {"drop deny_rule"}},
    {"a tag lets it on",
     kOfClosed,
     "{action: tag, dscp: ef}",
     from_client(kClosed),
     {"tag allow_rule"}},
    {"a ClientHello is reset",
     "tls.sni eq \"closed.example\"",
     kForbids,
     hello("closed.example"),
     {"< RA 7:1109", "> RA 1000:7", "reset deny_rule"}},
    {"a ClientHello is answered in clear",
     "tls.sni eq \"closed.example\"",
     "{action: reply, tls_fallback: alert}",
     hello("closed.example"),
     {"< FPA 7:1109 7", "> RA 1000:7", "reply deny_rule"}},
    {"a QUIC Initial is closed",
     "quic.sni eq \"closed.example\"",
     kForbids,
     datagram(443, test::quic_initial("closed.example").packet()),
     {"< udp 37", "reply deny_rule"}},
    {"by headers alone",
     "ip.src eq 10.0.0.1",
     kForbids,
     from_client(kClosed),
     {"< FPA 7:1040 169", "> RA 1000:7", "reply deny_rule"}},
    {"a SYN has no response",
     "ip.src eq 10.0.0.1",
     kForbids,
     from_client({}, 0, kSyn),
     {"drop deny_rule"}},
    {"a SYN passes where the condition asks for a request",
     "ip.src eq 10.0.0.1 and proto.l7 eq \"http\"",
     kForbids,
     from_client({}, 0, kSyn),
     {"pass unmatched"}},
    {"and its request is answered",
     "ip.src eq 10.0.0.1 and proto.l7 eq \"http\"",
     kForbids,
     from_client(kClosed),
     {"< FPA 7:1040 169", "> RA 1000:7", "reply deny_rule"}},
    {"a SYN is reset to its sender alone",
     "ip.src eq 10.0.0.1",
     "{action: reset}",
     from_client({}, 0, kSyn),
     {"< RA 0:1001", "reset deny_rule"}},
    {"a query is refused",
     "dns.qname eq \"www.example.com\"",
     "{action: reply, slip: 1}",
     asks(),
     {"< udp 33", "reply deny_rule"}},
    {"a query is truncated",
     "dns.qname eq \"www.example.com\"",
     "{action: dns_truncate, slip: 1}",
     asks(),
     {"< udp 33", "reply deny_rule"}},
    {"no query at all is answered",
     "dns.qname eq \"www.example.com\"",
     "{action: dns_truncate, slip: 0}",
     asks(),
     {"drop deny_rule"}},
    {"a request is no query",
     kOfClosed,
     "{action: dns_truncate, slip: 1, then: reset}",
     from_client(kClosed),
     {"< RA 7:1040", "> RA 1000:7", "reset deny_rule"}},
    {"other protocols",
     "ip.src eq 10.0.0.1",
     kForbids,
     Frame{1}.src("10.0.0.1"),
     {"drop deny_rule"}},
};

TEST(MatchActions, GoByProtocolActionAndMoment) {
    for (const Moment& row : kMoments) {
        SCOPED_TRACE(std::string{row.on_match} + ": " + row.what);
        AnsweringBox box{file(rule("r", row.when, row.on_match))};
        EXPECT_EQ(box.take(row.frame), row.lines);
        EXPECT_EQ(box.box().counters(0).skipped.read(), 0U);
    }
}

std::string without_date(std::string text) {
    const std::size_t at = text.find("Date: ");
    return at == std::string::npos ? text : text.erase(at, text.find("\r\n", at) + 2 - at);
}

// No limit has refused, so that the response has no quota to tell of.
TEST(MatchActions, AResponseTellsOfNoLimit) {
    AnsweringBox box{kForbidden};
    (void)box.take(from_client(kClosed));
    EXPECT_EQ(without_date(box.made().front().text()),
              "HTTP/1.1 403 Forbidden\r\n"
              "Content-Type: text/plain; charset=utf-8\r\n"
              "Content-Length: 2\r\n"
              "Cache-Control: no-store\r\nConnection: close\r\n\r\nno");
    AnsweringBox bare{file(rule("closed", kOfClosed, "{action: reply}"))};
    (void)bare.take(from_client(kClosed));
    EXPECT_EQ(without_date(bare.made().front().text()),
              "HTTP/1.1 403 Forbidden\r\n"
              "Content-Length: 0\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
}

// RFC 1035, 4.1.1: an answer to a query with RD, with TC, with RCODE 5, and with neither.
TEST(MatchActions, AQueryIsTruncatedOrRefused) {
    const auto flags_for = [](std::string_view on_match) {
        AnsweringBox box{file(rule("r", "dns.qname eq \"www.example.com\"", on_match))};
        (void)box.take(asks());
        const test::Octets answer = box.made().front().payload();
        return load_be16(answer, 2);
    };
    EXPECT_EQ(flags_for("{action: dns_truncate, slip: 1}"), 0x8300);
    EXPECT_EQ(flags_for("{action: reply, slip: 1}"), 0x8105);
    EXPECT_EQ(flags_for("{action: decoy, slip: 1}"), 0x8100);
}

TEST(MatchActions, EverySoManyQueriesAreAnswered) {
    AnsweringBox box{file(rule("r", "l4.dport eq 53", "{action: dns_truncate, slip: 3}"))};
    Lines lines;
    for (int i = 0; i < 9; ++i) {
        lines.push_back(box.take(asks()).back());
    }
    EXPECT_EQ(std::ranges::count(lines, "reply deny_rule"), 3);
    EXPECT_EQ(std::ranges::count(lines, "drop deny_rule"), 6);
    EXPECT_EQ(box.box().counters(0).exceeded.read(), 9U);
}

TEST(MatchActions, TheFirstInTheFileDecides) {
    const std::string forbids = rule("forbids", kOfClosed, kForbids);
    const auto decided = [](const std::string& rules) {
        AnsweringBox box{file(rules)};
        return box.take(from_client(kClosed)).back();
    };
    const std::string_view of_client = "ip.src eq 10.0.0.1 and http.host ne \"\"";
    EXPECT_EQ(decided(rule("let", of_client, "allow") + forbids), "pass allow_rule");
    EXPECT_EQ(decided(forbids + rule("let", of_client, "allow")), "reply deny_rule");
    EXPECT_EQ(decided(rule("deny", of_client, "drop") + forbids), "drop deny_rule");
    EXPECT_EQ(decided(forbids + rule("deny", of_client, "drop")), "reply deny_rule");
    EXPECT_EQ(decided(rule("tags", of_client, "{action: tag, pcp: 1}") + forbids),
              "tag allow_rule");
    EXPECT_EQ(decided("  - {id: full, mode: enforce, key: [], limits: [{algorithm: token_bucket, "
                      "rate: 1/d, burst: 9}]}\n" +
                      forbids),
              "reply deny_rule")
        << "before any limit";
}

TEST(MatchActions, ThatMonitorCountAndDoNotAct) {
    AnsweringBox box{file(rule("closed", kOfClosed, kForbids, "monitor") +
                          rule("tags", kOfClosed, "{action: tag, pcp: 1}", "monitor"))};
    EXPECT_EQ(box.take(from_client(kClosed)), (Lines{"pass unmatched"}));
    EXPECT_EQ(box.box().counters(0).exceeded.read(), 1U);
    EXPECT_EQ(box.box().counters(1).admitted.read(), 1U) << "a tag forwards";
    EXPECT_EQ(box.count(AnswerEvent::Replied), 0U);
}

TEST(MatchActions, ThatAreOffAreNotThere) {
    AnsweringBox box{file(rule("closed", kOfClosed, kForbids, "\"off\"") +
                          rule("other", "l4.dport eq 99", "drop"))};
    EXPECT_EQ(box.take(from_client(kClosed)), (Lines{"pass unmatched"}));
}

TEST(MatchActions, ARequestThatComesAgainGetsTheSameAnswerAgain) {
    AnsweringBox box{kForbidden};
    const std::string first = box.take(from_client(kClosed)).front();
    const std::string text = box.made().front().text();
    EXPECT_EQ(box.take(from_client(kClosed)), (Lines{first, "drop answered"}));
    EXPECT_EQ(box.made().front().text(), text);
    EXPECT_EQ(box.take(from_server(990), Direction::Out), (Lines{"< RA 990:7", "drop answered"}));
    EXPECT_EQ(box.box().counters(0).exceeded.read(), 1U);
}

// The request before it has gone to the server, whose answer is still to come.
TEST(MatchActions, OnAKeptConnectionTheAnswerStandsBehindTheServers) {
    AnsweringBox box{kForbidden};
    box.prove_clients(false);
    const std::string open = get("open.example");
    const auto size = static_cast<std::uint32_t>(open.size());
    const std::string served = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const auto from_server_at = [](std::uint32_t seq, std::uint32_t acknowledged,
                                   std::uint16_t flags = kAck) {
        return from_server(acknowledged).seq(seq).flags(flags);
    };
    (void)box.take(from_client({}, 0U - 1U, kSyn).ack(0));
    (void)box.take(from_server_at(kTheirs - 1, kFirst, kSyn | kAck), Direction::Out);
    (void)box.take(from_client());
    EXPECT_EQ(box.take(from_client(open)), (Lines{"pass unmatched"}));
    EXPECT_EQ(box.take(from_client(kClosed, size)), (Lines{"reply deny_rule"}))
        << "nothing is sent yet";
    EXPECT_EQ(box.count(AnswerEvent::Waiting), 1U);
    const Frame answer = from_server_at(kTheirs, kFirst + size).carries(test::octets_of(served));
    EXPECT_EQ(box.take(answer, Direction::Out), (Lines{"pass unmatched"}));
    const auto behind = kTheirs + static_cast<std::uint32_t>(served.size());
    const Lines lines = box.take(from_client({}, size + kClosedSize).ack(behind));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines.front(), "< FPA " + std::to_string(behind) + ":" +
                                 std::to_string(kFirst + size + kClosedSize) + " 169");
    EXPECT_EQ(box.count(AnswerEvent::Replied), 1U);
}

TEST(MatchActions, OfSeveralRequestsInAPacketTheStrictestDecides) {
    AnsweringBox box{kForbidden};
    EXPECT_EQ(box.take(from_client(get("open.example") + kClosed)).back(), "reply deny_rule");
    EXPECT_EQ(box.box().counters(0).exceeded.read(), 1U);
}

// A head in two segments: the first one goes on before anybody knows.
TEST(MatchActions, AHeadInTwoSegmentsIsAnsweredAtItsLast) {
    AnsweringBox box{kForbidden};
    const std::string_view text = kClosed;
    EXPECT_EQ(box.take(from_client(text.substr(0, 9))), (Lines{"pass unmatched"}));
    EXPECT_EQ(box.take(from_client(text.substr(9), 9)),
              (Lines{"< FPA 7:1040 169", "> RA 1009:7", "reply deny_rule"}));
}

// Requests behind an answered one on its connection go to nobody, and nobody pays for them.
class BehindAnswers : public testing::Test {
protected:
    static std::string rules(std::string_view beside = "packet") {
        return kForbidden +
               "  - {id: counted, mode: enforce, key: [], per: " + std::string{beside} +
               ", limits: [{algorithm: token_bucket, rate: 1/d, burst: 40}]}\n";
    }
    AnsweringBox box_{rules()};
    [[nodiscard]] std::uint64_t admitted() { return box_.box().counters(1).admitted.read(); }
};

TEST_F(BehindAnswers, InTheSameBurst) {
    std::vector<Frame> frames{from_client(kClosed)};
    for (std::uint32_t i = 0; i < 5; ++i) {
        frames.push_back(from_client("more", kClosedSize + 4 * i));
    }
    frames.push_back(from_client("of another one").sport(9).seq(9000));
    frames.push_back(from_client("", 90'000, kSyn));
    const Lines lines = box_.take(frames);
    EXPECT_EQ(std::ranges::count(lines, "drop answered"), 5);
    EXPECT_EQ(std::ranges::count(lines, "pass within_limits"), 2);
    EXPECT_EQ(admitted(), 2U);
}

TEST_F(BehindAnswers, InTheBurstThatIsMatchedAlready) {
    const Lines lines =
        box_.take_overlapped({from_client(kClosed)}, {from_client("more", kClosedSize)});
    EXPECT_EQ(lines.back(), "drop answered");
    EXPECT_EQ(admitted(), 0U);
}

TEST_F(BehindAnswers, WhereConnectionsAreCountedToo) {
    AnsweringBox box{kForbidden +
                     "  - {id: open, mode: enforce, key: [ip.src], limits: [{algorithm: "
                     "concurrency, count: 9, idle: 10m}]}\n"
                     "  - {id: counted, mode: enforce, key: [], limits: [{algorithm: "
                     "token_bucket, rate: 1/d, burst: 40}]}\n"};
    const Lines lines =
        box.take(std::vector<Frame>{from_client(kClosed), from_client("more", kClosedSize)});
    EXPECT_EQ(lines.back(), "drop answered");
    EXPECT_EQ(box.box().counters(2).admitted.read(), 0U);
}

}  // namespace
}  // namespace sluice::match_action_cases_test
