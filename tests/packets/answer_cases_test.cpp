#include "tests/packets/answered_client.hpp"
#include "tests/packets/answering_box.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/quic/server_initial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// (protocol x action x moment): what the box sends itself, and what follows on a connection that it
// has answered.
namespace sluice::answer_cases_test {
namespace {

using namespace std::chrono_literals;
using test::AnsweringBox;
using test::Frame;
using namespace test::answered_client;
using Lines = std::vector<std::string>;

const std::string kGet = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const auto kGetSize = static_cast<std::uint32_t>(kGet.size());

// Every packet is refused: the only one that a day has room for is gone.
std::string refuses(std::string_view action, std::string_view per = "packet") {
    return "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: " + std::string{per} +
           ", limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: " +
           std::string{action} + "}}\n";
}
constexpr std::string_view kReply = "reply, body: no";
constexpr std::string_view kDecoy = "decoy, body: ok";
constexpr std::string_view kAlert = "reply, body: no, tls_fallback: alert";
constexpr std::string_view kTruncate = "dns_truncate, slip: 1";
constexpr std::string_view kTruncateElseReset = "dns_truncate, slip: 1, then: reset";

Frame initial(bool is_short = false) {
    test::Octets bytes = is_short ? test::InitialMaker{}
                                        .dcid(test::quic_id(1))
                                        .carries(test::crypto(0, test::quic_hello("a.example")))
                                        .padded_to(600)
                                        .packet()
                                  : test::quic_initial("a.example").packet();
    return datagram(443, bytes);
}
struct Moment {
    const char* what;
    std::string_view action;
    Frame frame;
    Lines lines;
};

const Moment kMoments[] = {
    {"a SYN is reset to its sender alone",
     "reset",
     from_client("", 0, kSyn),
     {"< RA 0:1001", "reset over_limit"}},
    {"a SYN has no response", kReply, from_client("", 0, kSyn), {"drop over_limit"}},
    {"a SYN is no query",
     kTruncateElseReset,
     from_client("", 0, kSyn),
     {"< RA 0:1001", "reset over_limit"}},
    {"a request", "reset", from_client(kGet), {"< RA 7:1035", "> RA 1000:7", "reset over_limit"}},
    {"a request is answered, and its server's connection ends",
     kReply,
     from_client(kGet),
     {"< FPA 7:1035 264", "> RA 1000:7", "reply over_limit"}},
    {"a decoy says nothing of limits",
     kDecoy,
     from_client(kGet),
     {"< FPA 7:1035 162", "> RA 1000:7", "decoy over_limit"}},
    {"HEAD",
     kDecoy,
     from_client("HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
     {"< FPA 7:1036 160", "> RA 1000:7", "decoy over_limit"}},
    {"HTTP/1.0",
     kDecoy,
     from_client("GET / HTTP/1.0\r\n\r\n"),
     {"< FPA 7:1018 162", "> RA 1000:7", "decoy over_limit"}},
    {"a request is no query", kTruncate, from_client(kGet), {"drop over_limit"}},
    {"bytes of no protocol that is known",
     kReply,
     from_client("\x01\x02\x03"),
     {"drop over_limit"}},
    {"an ACK", kReply, from_client(), {"drop over_limit"}},
    {"an ACK", "reset", from_client(), {"< RA 7:1000", "> RA 1000:7", "reset over_limit"}},
    {"a RST is never answered", "reset", from_client("", 0, kRst), {"drop over_limit"}},
    {"a FIN",
     "reset",
     from_client("", 0, kFin | kAck),
     {"< RA 7:1001", "> RA 1000:7", "reset over_limit"}},
    {"a ClientHello",
     kReply,
     hello("a.example"),
     {"< RA 7:1104", "> RA 1000:7", "reset over_limit"}},
    {"a ClientHello is answered in clear",
     kAlert,
     hello("a.example"),
     {"< FPA 7:1104 7", "> RA 1000:7", "reply over_limit"}},
    {"a query is refused", "reply, slip: 1", asks(), {"< udp 33", "reply over_limit"}},
    {"a query has no records", "decoy, slip: 1", asks(), {"< udp 33", "decoy over_limit"}},
    {"a query is truncated", kTruncate, asks(), {"< udp 33", "reply over_limit"}},
    {"no query at all is answered", "reply, slip: 0", asks(), {"drop over_limit"}},
    {"a query on another port",
     "reply, slip: 1",
     asks().dport(5300),
     {"< udp 33", "reply over_limit"}},
    {"a query on another port has no records",
     "decoy, slip: 1",
     asks().dport(5300),
     {"< udp 33", "decoy over_limit"}},
    {"a query cannot be reset", "reset", asks(), {"drop over_limit"}},
    {"a QUIC Initial", "reset", initial(), {"< udp 37", "reset over_limit"}},
    {"a QUIC Initial", kReply, initial(), {"< udp 37", "reply over_limit"}},
    {"a QUIC Initial is no query", kTruncate, initial(), {"drop over_limit"}},
    {"other datagrams", kReply, Frame{17}.payload(40), {"drop over_limit"}},
    {"other protocols", "reset", Frame{1}, {"drop over_limit"}},
    {"what has a tag",
     "reset",
     from_client().vlan(7),
     {"< RA 7:1000", "> RA 1000:7", "reset over_limit"}},
};

TEST(Answers, GoByProtocolActionAndMoment) {
    for (const Moment& row : kMoments) {
        SCOPED_TRACE(std::string{row.action} + ": " + row.what);
        AnsweringBox box{refuses(row.action)};
        EXPECT_EQ(box.take(Frame{17}.src("10.9.9.9")), (Lines{"pass within_limits"}));
        EXPECT_EQ(box.take(row.frame), row.lines);
    }
}

// A box that has refused and answered the request of from_client(kGet).
struct Answered {
    AnsweringBox box;
    Lines answer;
    std::string text;   // of the response
    std::uint32_t end;  // behind its FIN

    explicit Answered(std::string_view action = kReply) : box{refuses(action)} {
        (void)box.take(Frame{17}.src("10.9.9.9"));
        answer = box.take(from_client(kGet));
        text = box.made().front().text();
        end = kTheirs + static_cast<std::uint32_t>(text.size()) + 1;
    }
};

TEST(Answers, ARequestThatComesAgainGetsTheSameAnswerAgain) {
    Answered of;
    const Lines again = of.box.take(from_client(kGet));
    EXPECT_EQ(again, (Lines{of.answer.front(), "drop answered"}));
    EXPECT_EQ(of.box.made().front().text(), of.text);
    EXPECT_EQ(of.box.count(AnswerEvent::Repeated), 1U);
    // Under other rules nothing tells what it was.
    ASSERT_TRUE(of.box.box().reload(refuses("reply, body: other")).has_value());
    EXPECT_EQ(of.box.take(from_client(kGet)), (Lines{"< RA 7:1035", "drop answered"}));
}

// RFC 9110, 6.6.1. What is sent again is the same byte for byte.
TEST(Answers, ADateIsOfTheSecondInWhichAnAnswerWasMade) {
    constexpr Instant kBegin{1h};
    AnsweringBox box{refuses(kReply)};
    box.set_utc_ahead(784'111'777s - 1h);
    (void)box.take(Frame{17}.src("10.9.9.9"));
    const auto text_at = [&](std::uint16_t client, Nanoseconds after) {
        (void)box.take(from_client(kGet).sport(client), Direction::In, kBegin + after);
        return box.made().front().text();
    };
    const std::string first = text_at(40'000, 0s);
    EXPECT_NE(first.find("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), std::string::npos)
        << first;
    EXPECT_EQ(text_at(40'001, 999'999'999ns), first);
    const std::string second = text_at(40'002, 1s);
    EXPECT_NE(second.find("\r\nDate: Sun, 06 Nov 1994 08:49:38 GMT\r\n"), std::string::npos)
        << second;
    EXPECT_EQ(text_at(40'000, 1s), first);
    EXPECT_EQ(text_at(40'000, 20s), first);
    EXPECT_EQ(text_at(40'002, 20s), second);
    EXPECT_EQ(box.count(AnswerEvent::Repeated), 3U);
}

TEST(Answers, WhatFollowsGoesToNobody) {
    Answered of;
    const auto has_all = [&](Frame frame) { return of.box.take(frame.ack(of.end)); };
    EXPECT_EQ(has_all(from_client({}, kGetSize)), (Lines{"drop answered"}));
    EXPECT_EQ(of.box.take(from_client("more", kGetSize)), (Lines{"drop answered"}))
        << "what its client sent before the answer came";
    EXPECT_EQ(has_all(from_client("and more", kGetSize + 4)),
              (Lines{"< RA " + std::to_string(of.end) + ":1047", "drop answered"}));
    EXPECT_EQ(has_all(from_client({}, kGetSize + 12, kFin | kAck)),
              (Lines{"< A " + std::to_string(of.end) + ":1048", "drop answered"}));
    EXPECT_EQ(has_all(from_client({}, kGetSize + 12, kRst)), (Lines{"drop answered"}));
    EXPECT_EQ(of.box.take(from_client({}, kGetSize)), (Lines{"drop over_limit"}))
        << "its client has given it up";
}

TEST(Answers, AServersChallengeIsAnsweredWhereItSaysSo) {
    Answered of;
    EXPECT_EQ(of.box.take(from_server(990), Direction::Out),
              (Lines{"< RA 990:7", "drop answered"}));
    EXPECT_EQ(of.box.take(from_server(990, kRst | kAck), Direction::Out), (Lines{"drop answered"}));
    EXPECT_EQ(of.box.count(AnswerEvent::ChallengeReset), 1U);
    // The next connection between the same ends is another one.
    EXPECT_EQ(of.box.take(from_client({}, 90'000, kSyn)), (Lines{"drop over_limit"}));
    EXPECT_EQ(of.box.take(from_server(91'001, kSyn | kAck), Direction::Out),
              (Lines{"drop over_limit"}));
}

TEST(Answers, AServersChallengeMayComeToAnotherWorker) {
    AnswerBoards servers = AnsweringBox::boards();
    AnsweringBox one{refuses(kReply), servers};
    AnsweringBox other{refuses(kReply), servers};
    AnsweringBox of_another_box{refuses(kReply)};
    for (AnsweringBox* box : {&one, &other, &of_another_box}) {
        (void)box->take(Frame{17}.src("10.9.9.9"));
    }
    EXPECT_EQ(other.take(from_server(990), Direction::Out), (Lines{"drop over_limit"}));
    (void)one.take(from_client(kGet));
    EXPECT_EQ(other.take(from_server(990), Direction::Out), (Lines{"< RA 990:7", "drop answered"}));
    EXPECT_EQ(other.count(AnswerEvent::ChallengeReset), 1U);
    EXPECT_EQ(one.take(from_server(991), Direction::Out), (Lines{"< RA 991:7", "drop answered"}));
    EXPECT_EQ(of_another_box.take(from_server(990), Direction::Out), (Lines{"drop over_limit"}));
    // A SYN that comes to another worker begins another connection at all of them.
    EXPECT_EQ(other.take(from_client({}, 90'000, kSyn)), (Lines{"drop over_limit"}));
    EXPECT_EQ(one.take(from_server(91'001, kSyn | kAck), Direction::Out),
              (Lines{"drop over_limit"}));
}

TEST(Answers, AnAlertIsAnAnswerLikeOthers) {
    AnsweringBox box{refuses(kAlert)};
    (void)box.take(Frame{17}.src("10.9.9.9"));
    const Lines answer = box.take(hello("a.example"));
    const std::uint32_t end = kTheirs + 7 + 1;
    EXPECT_EQ(box.take(hello("a.example")), (Lines{answer.front(), "drop answered"}));
    EXPECT_EQ(box.count(AnswerEvent::Repeated), 1U);
    const auto has_all = [](std::uint16_t flags) {
        return from_client({}, 104, flags).dport(443).ack(end);
    };
    EXPECT_EQ(box.take(has_all(kAck)), (Lines{"drop answered"}));
    EXPECT_EQ(box.take(has_all(kFin | kAck)),
              (Lines{"< A " + std::to_string(end) + ":1105", "drop answered"}))
        << "its FIN does not reach the server, which knows nothing of the alert";
    EXPECT_EQ(box.take(from_server(990).sport(443), Direction::Out),
              (Lines{"< RA 990:7", "drop answered"}));
}

TEST(Answers, AreForgottenInSilence) {
    Answered of;
    const Instant later = Instant{1h} + AnsweredConnections::kSilence + 3s;
    EXPECT_EQ(of.box.take(from_client({}, kGetSize), Direction::In, later),
              (Lines{"drop over_limit"}));
    EXPECT_EQ(of.box.take(from_server(990), Direction::Out, later), (Lines{"drop over_limit"}));
}

TEST(Answers, WhatHadToMakeRoomIsResetWhenItComesAgain) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    constexpr std::uint16_t kRequests = 200;
    const auto nth = [](std::uint16_t i) {
        return from_client(kGet).sport(static_cast<std::uint16_t>(100 + i));
    };
    for (std::uint16_t i = 0; i < kRequests; ++i) {
        EXPECT_EQ(box.take(nth(i)).back(), "reply over_limit");
    }
    EXPECT_EQ(box.count(AnswerEvent::Replied), kRequests);
    EXPECT_GE(box.count(AnswerEvent::Evicted), kRequests - AnsweringBox::kLines);
    std::size_t resets = 0;
    for (std::uint16_t i = 0; i < kRequests; ++i) {
        const Lines again = box.take(nth(i));
        resets += again.front() == "< RA 7:1035" ? 1 : 0;
        EXPECT_NE(again.front().front(), 'p') << "a refused request is never forwarded";
        EXPECT_EQ(again.size(), 2U) << "neither is it dropped without a word";
    }
    EXPECT_GE(resets, kRequests - AnsweringBox::kLines);
}

// What is behind an answer on its way is reset each time that it comes again: its first RST is
// ignored where the answer overtakes it.
TEST(Answers, WhatWasResetIsResetAgain) {
    AnsweringBox box{refuses("reset", "request")};
    (void)box.take(from_client(kGet).sport(9));
    EXPECT_EQ(box.take(from_client(kGet)).back(), "reset over_limit");
    EXPECT_EQ(box.take(from_client(kGet)), (Lines{"< RA 7:1035", "drop answered"}));
    EXPECT_EQ(box.take(from_client({}, kGetSize, kFin | kAck)),
              (Lines{"< RA 7:1036", "drop answered"}));
    EXPECT_EQ(box.take(from_server(990), Direction::Out), (Lines{"< RA 990:7", "drop answered"}));

    AnsweringBox waits{refuses(kReply, "request")};
    EXPECT_EQ(waits.take(from_client(kGet)), (Lines{"pass within_limits"}));
    EXPECT_EQ(waits.take(from_client(kGet, kGetSize)).back(), "reset over_limit");
    EXPECT_EQ(waits.take(from_server(1035), Direction::Out).back().substr(0, 4), "pass")
        << "the answer to the first one goes on";
    EXPECT_EQ(waits.take(from_client(kGet, kGetSize).ack(kTheirs + 500)),
              (Lines{"< RA 507:1070", "drop answered"}));
}

// Somebody who knows the ends of a connection and guesses its numbers changes nothing about it.
TEST(Answers, ARequestWithOtherNumbersEndsNoConnection) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    (void)box.take(from_client({}, static_cast<std::uint32_t>(-1), kSyn));
    for (const std::uint32_t guess : {0x2000'0000U, 0x8000'0000U, 0xF000'0000U}) {
        EXPECT_EQ(box.take(from_client(kGet).seq(guess).ack(guess)).back(), "pass unmatched");
        EXPECT_EQ(box.take(from_server(1000), Direction::Out).back(), "pass unmatched");
        EXPECT_EQ(box.take(from_client("more", 0)).back(), "pass unmatched");
        EXPECT_EQ(box.take(from_server(1004, kFin | kAck), Direction::Out).back(),
                  "pass unmatched");
    }
    EXPECT_EQ(box.count(AnswerEvent::ChallengeReset), 0U);
}

TEST(Answers, NumbersGoOnBehindTheirLargest) {
    constexpr std::uint32_t kLast = 0xFFFF'FFF0;
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    EXPECT_EQ(box.take(from_client(kGet).seq(kLast)).front(),
              "< FPA 7:" + std::to_string(kLast + kGetSize) + " 264");
    for (const std::uint32_t acknowledged : {kLast - 500, kLast}) {
        EXPECT_EQ(box.take(from_server(acknowledged), Direction::Out).back(), "drop answered");
    }
    EXPECT_EQ(box.take(from_client(kGet).seq(kLast)).back(), "drop answered");
    EXPECT_EQ(box.count(AnswerEvent::Repeated), 1U);
}

TEST(Answers, ASegmentThatIsLackingIsSentAgain) {
    AnsweringBox box{refuses("reply, body: \"" + std::string(900, 'x') + "\"", "request")};
    (void)box.take(from_client(kGet).sport(9));
    const Lines answer = box.take(from_client(kGet));
    ASSERT_GE(answer.size(), 4U) << "several segments";
    const Frame lacks = from_client({}, kGetSize).ack(kTheirs);
    EXPECT_EQ(box.take(lacks), (Lines{"drop answered"}));
    Lines again = box.take(lacks);
    EXPECT_EQ(again.back(), "drop answered");
    again.pop_back();
    EXPECT_EQ(again, Lines(answer.begin(), answer.end() - 2));
    for (int i = 0; i < 100; ++i) {
        (void)box.take(lacks);
    }
    EXPECT_LE(box.count(AnswerEvent::Repeated), 8U) << "it is no way to have many sent";
}

TEST(Answers, OfOneSourceAreBounded) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    for (std::uint32_t i = 0; i < kMostAnswersPerSecond; ++i) {
        (void)box.take(from_client(kGet).sport(static_cast<std::uint16_t>(i + 10)));
    }
    EXPECT_EQ(box.count(AnswerEvent::Replied), kMostAnswersPerSecond);
    EXPECT_EQ(box.take(from_client(kGet).sport(50'000)),
              (Lines{"< RA 7:1035", "> RA 1000:7", "reset over_limit"}));
    EXPECT_EQ(box.take(from_client(kGet).src("10.0.0.77")).back(), "reply over_limit");
    EXPECT_EQ(box.take(from_client(kGet).sport(50'001), Direction::In, Instant{1h} + 1s).back(),
              "reply over_limit");
}

TEST(Answers, WithoutAPlaceInAConnectionThereIsNone) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    EXPECT_EQ(box.take(from_client(kGet, 0, kSyn)), (Lines{"drop over_limit"})) << "data of a SYN";
    EXPECT_EQ(box.take(from_client(kGet, 0, 0).sport(41'000)), (Lines{"drop over_limit"}))
        << "no ACK";
    EXPECT_EQ(box.count(AnswerEvent::Unproven), 2U);
}

// Its copy is judged as another one: a request that is sent twice does not go ahead of its
// departure.
TEST(Shaping, ACopyOfAHeldRequestGainsNothing) {
    AnsweringBox box{
        "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: request, limits: "
        "[{algorithm: token_bucket, rate: 1/s, burst: 1}], on_exceed: {action: shape, max_delay: "
        "2500ms}}\n"};
    EXPECT_EQ(box.take(from_client(kGet).sport(9)).back(), "pass within_limits");
    EXPECT_EQ(box.take(from_client(kGet)).back(), "shape over_limit");
    EXPECT_EQ(box.take(from_client(kGet)).back(), "shape over_limit") << "2 s from now";
    EXPECT_EQ(box.take(from_client(kGet)).back(), "drop over_limit") << "too late";
    // The second part of a head cannot be judged alone: what is held of it goes on by itself.
    AnsweringBox parts{
        "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: request, limits: "
        "[{algorithm: token_bucket, rate: 1/s, burst: 1}], on_exceed: {action: shape, max_delay: "
        "2500ms}}\n"};
    EXPECT_EQ(parts.take(from_client(kGet).sport(9)).back(), "pass within_limits");
    EXPECT_EQ(parts.take(from_client(kGet.substr(0, 9))).back(), "pass unmatched");
    EXPECT_EQ(parts.take(from_client(kGet.substr(9), 9)).back(), "shape over_limit");
    EXPECT_EQ(parts.take(from_client(kGet.substr(9), 9)).back(), "drop retransmission");
}

TEST(Answers, ADecoyOpensNoTunnel) {
    const std::string connect = "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n";
    AnsweringBox decoy{refuses(kDecoy, "request")};
    (void)decoy.take(from_client(kGet).sport(9));
    EXPECT_EQ(decoy.take(from_client(connect)).back(), "reset over_limit");
    AnsweringBox reply{refuses(kReply, "request")};
    (void)reply.take(from_client(kGet).sport(9));
    EXPECT_EQ(reply.take(from_client(connect)).back(), "reply over_limit");
}

TEST(Answers, NothingIsSentIntoAnAnswerThatMayBeOnItsWay) {
    AnsweringBox box{refuses(kReply, "request")};
    EXPECT_EQ(box.take(from_client(kGet)), (Lines{"pass within_limits"}));
    EXPECT_EQ(box.take(from_client(kGet, kGetSize)),
              (Lines{"< RA 7:1070", "> RA 1035:7", "reset over_limit"}));
    EXPECT_EQ(box.count(AnswerEvent::MayBeAnswering), 1U);
}

TEST(Answers, StandBehindTheAnswerBefore) {
    AnsweringBox box{refuses(kReply, "request")};
    EXPECT_EQ(box.take(from_client(kGet)), (Lines{"pass within_limits"}));
    EXPECT_EQ(box.take(from_client(kGet, kGetSize).ack(kTheirs + 500)),
              (Lines{"< FPA 507:1070 264", "> RA 1035:507", "reply over_limit"}));
}

TEST(Answers, ConcernTheRestOfTheirBurst) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    const Lines lines = box.take(std::vector<Frame>{
        from_client(kGet.substr(0, 9)), from_client(kGet.substr(9), 9), from_client({}, kGetSize)});
    EXPECT_EQ(lines, (Lines{"pass unmatched", "< FPA 7:1035 264", "> RA 1009:7", "reply over_limit",
                            "drop answered"}));
}

// What comes on a connection that was answered is of no rule: a limit that watches all packets
// counts none of them, at whatever distance they come behind the request.
class Uncharged : public testing::TestWithParam<const char*> {
protected:
    // Packets are watched by a rule that never refuses, and requests are answered from the second
    // on.
    static std::string rules() {
        return std::string{
                   "version: 1\nrules:\n"
                   "  - {id: seen, mode: monitor, on_match: allow}\n"
                   "  - {id: counted, mode: enforce, key: [], limits: [{algorithm: token_bucket, "
                   "rate: "
                   "1/d, burst: 40}], on_exceed: {action: drop}}\n"
                   "  - {id: asked, mode: enforce, key: [], per: request, limits: [{algorithm: "
                   "token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: "} +
               GetParam() + "}}\n";
    }
    static std::uint64_t admitted(AnsweringBox& box, std::size_t rule) {
        return box.box().counters(rule).admitted.read();
    }
};
INSTANTIATE_TEST_SUITE_P(Actions, Uncharged, testing::Values("reply", "decoy", "reset"));

TEST_P(Uncharged, InLaterBursts) {
    AnsweringBox box{rules()};
    EXPECT_EQ(box.take(from_client(kGet).sport(9)).back(), "pass within_limits");
    EXPECT_NE(box.take(from_client(kGet)).back(), "pass within_limits");
    const std::uint64_t counted = admitted(box, 1);
    const std::uint64_t seen = admitted(box, 0);
    for (std::uint32_t i = 0; i < 50; ++i) {
        EXPECT_EQ(box.take(from_client("more", kGetSize + 4 * i)).back(), "drop answered");
        EXPECT_EQ(box.take(from_client(kGet)).back(), "drop answered") << "the request again";
        EXPECT_EQ(box.take(from_server(990), Direction::Out).back(), "drop answered");
    }
    EXPECT_EQ(admitted(box, 1), counted);
    EXPECT_EQ(admitted(box, 0), seen);
    EXPECT_NE(box.take(from_client(kGet).dport(81)).back(), "drop answered")
        << "another connection";
    EXPECT_EQ(box.take(Frame{17}).back(), "pass within_limits") << "nobody has spent the 40";
}

TEST_P(Uncharged, InTheSameBurst) {
    AnsweringBox box{rules()};
    (void)box.take(from_client(kGet).sport(9));
    const std::uint64_t counted = admitted(box, 1);
    std::vector<Frame> frames{from_client(kGet)};
    for (std::uint32_t i = 0; i < 10; ++i) {
        frames.push_back(from_client("more", kGetSize + 4 * i));
    }
    frames.push_back(from_client("of another one").sport(9).seq(9000));
    frames.push_back(from_client("", 90'000, kSyn));
    frames.push_back(from_client({}, 90'001));
    const Lines lines = box.take(frames);
    EXPECT_EQ(std::ranges::count(lines, "drop answered"), 10);
    EXPECT_EQ(lines.back(), "pass within_limits") << "of the next connection";
    EXPECT_EQ(std::ranges::count(lines, "pass within_limits"), 3);
    EXPECT_EQ(admitted(box, 1), counted + 3) << "these, and not the request, which is refused";
}

TEST_P(Uncharged, InTheBurstThatIsMatchedAlready) {
    AnsweringBox box{rules()};
    (void)box.take(from_client(kGet).sport(9));
    const std::uint64_t counted = admitted(box, 1);
    const Lines lines = box.take_overlapped(
        {from_client(kGet)}, {from_client("more", kGetSize), from_client("more").sport(9)});
    EXPECT_EQ(std::ranges::count(lines, "drop answered"), 1);
    EXPECT_EQ(admitted(box, 1), counted + 1) << "the other one's packet";
}

TEST_P(Uncharged, NotWhereTheWayBackIsUnknown) {
    AnsweringBox box{rules()};
    (void)box.take(from_client(kGet).sport(9));
    test::Octets label;
    test::put32(label, 0x0000'1140);
    const Lines lines = box.take(std::vector<Frame>{
        from_client(kGet).shim(0x8847, label), from_client("more", kGetSize).shim(0x8847, label)});
    EXPECT_EQ(lines, (Lines{"drop over_limit", "pass within_limits"}));
}

TEST(Answers, AQueryOnAnotherPortIsTruncatedWhereARuleAsksForQueries) {
    AnsweringBox box{
        "version: 1\nrules:\n  - {id: all, mode: enforce, when: 'dns.qname eq "
        "\"www.example.com\"', key: [], per: query, limits: [{algorithm: token_bucket, rate: 1/d, "
        "burst: 1}], on_exceed: {action: dns_truncate, slip: 1}}\n"};
    EXPECT_EQ(box.take(asks().dport(5300)).back(), "pass within_limits");
    EXPECT_EQ(box.take(asks().dport(5300)), (Lines{"< udp 33", "reply over_limit"}));
    EXPECT_EQ(box.count(AnswerEvent::DnsTruncated), 1U);
}

// Connections that differ in nothing but their inner tag.
TEST(Answers, AreOfOneInnerTag) {
    AnsweringBox box{refuses(kReply, "request")};
    (void)box.take(from_client(kGet).sport(9));
    EXPECT_EQ(box.take(from_client(kGet).vlan(7).vlan(1)).back(), "reply over_limit");
    EXPECT_EQ(box.take(from_client("more", kGetSize).vlan(7).vlan(1)).back(), "drop answered");
    EXPECT_EQ(box.take(from_client("more", kGetSize).vlan(7).vlan(2)).back(), "pass unmatched");
    EXPECT_EQ(box.take(from_client("more", kGetSize).vlan(7)).back(), "pass unmatched");
}

// A QUIC client's datagram from the port of initial().
Frame quic(const test::Octets& bytes) {
    return datagram(443, bytes);
}
constexpr std::string_view kRefusesHandshakes =
    "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: handshake, limits: "
    "[{algorithm: "
    "token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: reset}}\n";
// The frames of a close, as the client reads them that began with this id.
std::optional<test::Octets> read_close(const test::SentFrame& sent, unsigned id) {
    const test::Octets packet = sent.payload();
    QuicPacket header;
    EXPECT_EQ(read_long_header(packet, header), QuicHeaderOutcome::Good);
    return test::open_server_initial(packet, test::quic_id(id), header.number_at);
}

// The server has had the first part, and has chosen an id that the client turns to.
TEST(Answers, AHelloInTwoDatagramsIsClosedUnderTheKeysOfItsFirst) {
    AnsweringBox box{kRefusesHandshakes};
    (void)box.take(quic(test::quic_initial("b.example", 9).packet()));
    const test::Octets hello = test::quic_hello("a.example");
    EXPECT_EQ(box.take(quic(test::quic_part(hello, 0, 60, 1).packet())).back().substr(0, 4),
              "pass");
    const auto rest = test::quic_part(hello, 60, hello.size(), 1)
                          .dcid(test::quic_id(77))
                          .keys_of(test::quic_id(1));
    EXPECT_EQ(box.take(quic(rest.packet())), (Lines{"< udp 37", "reset over_limit"}));
    ASSERT_EQ(box.made().size(), 1U);
    const auto frames = read_close(box.made()[0], 1);
    ASSERT_TRUE(frames) << "its client can open it";
    EXPECT_EQ(frames->at(0), std::byte{0x1C});
    EXPECT_FALSE(read_close(box.made()[0], 77));
}

TEST(Answers, ACloseThatWasLostIsSentAgain) {
    AnsweringBox box{kRefusesHandshakes};
    (void)box.take(quic(test::quic_initial("b.example", 9).packet()));
    const Frame refused = quic(test::quic_initial("a.example", 1).packet());
    EXPECT_EQ(box.take(refused), (Lines{"< udp 37", "reset over_limit"}));
    for (int i = 0; i < kMostRepeats; ++i) {
        EXPECT_EQ(box.take(refused), (Lines{"< udp 37", "drop retransmission"}));
        EXPECT_TRUE(read_close(box.made()[0], 1));
    }
    EXPECT_EQ(box.take(refused), (Lines{"drop retransmission"})) << "so often at most";
    EXPECT_EQ(box.count(AnswerEvent::QuicClosed), 1U);
    EXPECT_EQ(box.count(AnswerEvent::Repeated), kMostRepeats);
    const Frame other = quic(test::quic_initial("a.example", 2).packet());
    EXPECT_EQ(box.take(other), (Lines{"< udp 37", "reset over_limit"})) << "another connection";
    EXPECT_EQ(box.take(other, Direction::In, Instant{1h} + std::chrono::seconds{11}),
              (Lines{"drop retransmission"}))
        << "nobody waits for so long";
}

// The answer of one rule is no reason to work out what another one's refusals would tell.
TEST(Answers, OnlyTheirOwnRefusalsSayHowLongToWait) {
    AnsweringBox box{
        "version: 1\nrules:\n"
        "  - {id: asked, mode: enforce, when: 'l4.dport eq 80', key: [], per: request, limits: "
        "[{algorithm: token_bucket, rate: 1/h, burst: 1}], on_exceed: {action: reply}}\n"
        "  - {id: all, mode: enforce, when: 'ip.proto eq 17', key: [], limits: [{algorithm: "
        "token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: drop}}\n"
        "  - {id: late, mode: enforce, when: 'l4.dport eq 81', key: [], limits: [{algorithm: "
        "token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: drop}}\n"
        "  - {id: both, mode: enforce, when: 'l4.dport eq 81', key: [], per: request, limits: "
        "[{algorithm: token_bucket, rate: 1/h, burst: 1}], on_exceed: {action: reset}}\n"};
    for (int i = 0; i < 2; ++i) {
        (void)box.take(Frame{17}.src("10.9.9.9"));
    }
    EXPECT_EQ(box.decision().reason, Reason::OverLimit);
    EXPECT_EQ(box.decision().wait, Nanoseconds{0});
    (void)box.take(from_client(kGet).sport(9));
    (void)box.take(from_client(kGet));
    EXPECT_EQ(box.decision().wait, Nanoseconds{1h});
}

TEST(Answers, MirrorTagsAndTimestamps) {
    AnsweringBox box{refuses("reply, body: no")};
    (void)box.take(Frame{17}.src("10.9.9.9"));
    test::Octets options = test::timestamp_options(1111, 2222);
    test::put(options, test::octets_of(kGet));
    const Frame tagged = from_client().vlan(7).vlan(9).data_offset(8).carries(options);
    (void)box.take(tagged);
    ASSERT_EQ(box.made().size(), 2U);
    for (const test::SentFrame& sent : box.made()) {
        EXPECT_EQ(sent.headers().vlan_id, 7);
        EXPECT_EQ(sent.headers().vlan_inner_id, 9);
    }
    EXPECT_EQ(box.made()[0].options(), test::timestamp_options(2222, 1111));
    EXPECT_TRUE(box.made()[0].swaps_macs_of(tagged.bytes()));
}

TEST(Answers, MirrorPppoe) {
    constexpr std::size_t kSessionAt = 20;  // behind Ethernet, a tag, version and code
    for (const std::string_view action : {kReply, std::string_view{"reset"}}) {
        AnsweringBox box{refuses(action)};
        (void)box.take(Frame{17}.src("10.9.9.9"));
        const auto size = static_cast<std::uint32_t>(2 + 20 + 20 + kGet.size());
        test::Octets session;
        test::put16(session, 0x1100);
        test::put16(session, 0xBEEF);
        test::put16(session, size);
        test::put16(session, 0x0021);  // IPv4
        (void)box.take(from_client(kGet).vlan(7).shim(0x8864, session));
        ASSERT_EQ(box.made().size(), 2U) << action;
        for (const test::SentFrame& sent : box.made()) {
            EXPECT_EQ(sent.headers().vlan_id, 7);
            EXPECT_EQ(load_be16(sent.bytes(), 16), 0x8864);
            EXPECT_EQ(load_be16(sent.bytes(), kSessionAt), 0xBEEF);
            EXPECT_EQ(load_be16(sent.bytes(), kSessionAt + 2), 2 + sent.headers().ip_len);
        }
    }
}

TEST(Answers, ThereIsNoneWhereTheWayBackIsUnknown) {
    AnsweringBox box{refuses(kReply)};
    (void)box.take(Frame{17}.src("10.9.9.9"));
    test::Octets label;
    test::put32(label, 0x0000'1140);  // the last one
    EXPECT_EQ(box.take(from_client(kGet).shim(0x8847, label)), (Lines{"drop over_limit"}));
    EXPECT_EQ(box.count(AnswerEvent::NoRoute), 1U);
}

TEST(Answers, SayHowLongToWait) {
    AnsweringBox box{
        "version: 1\nrules:\n  - {id: \"a-rule\", mode: enforce, key: [ip.src], per: request, "
        "limits: [{algorithm: token_bucket, rate: 30/m, burst: 4}, {algorithm: fixed_window, "
        "count: 5, window: 1h, phase: first}], on_exceed: {action: reply, x_ratelimit: true}}\n"};
    for (std::uint16_t i = 0; i < 4; ++i) {
        EXPECT_EQ(box.take(from_client(kGet).sport(i)), (Lines{"pass within_limits"}));
    }
    const auto refused = [&](std::uint16_t port, Instant now) {
        EXPECT_EQ(box.take(from_client(kGet).sport(port), Direction::In, now).back(),
                  "reply over_limit");
        return box.made().front().text();
    };
    const std::string first = refused(4, Instant{1h} + 1ms);
    EXPECT_NE(first.find("Retry-After: 2\r\n"), std::string::npos) << first;
    EXPECT_NE(first.find("RateLimit-Policy: \"a-rule\";q=4;w=8\r\n"), std::string::npos) << first;
    EXPECT_NE(first.find("RateLimit: \"a-rule\";r=0;t=2\r\n"), std::string::npos) << first;
    EXPECT_NE(first.find("X-RateLimit-Limit: 4\r\n"), std::string::npos) << first;
    // Who waits exactly so long is admitted; then the other limit is the one to wait for.
    EXPECT_EQ(box.take(from_client(kGet).sport(5), Direction::In, Instant{1h} + 1ms + 2s),
              (Lines{"pass within_limits"}));
    const std::string second = refused(6, Instant{1h} + 100s);
    EXPECT_NE(second.find("Retry-After: 3500\r\n"), std::string::npos) << second;
    EXPECT_NE(second.find("\"a-rule\";q=5;w=3600\r\n"), std::string::npos) << second;
}

TEST(Answers, AreSlowerThanTheQueriesThatTheyAreFor) {
    AnsweringBox box{refuses("dns_truncate, slip: 3, then: drop", "query")};
    (void)box.take(asks());
    int answered = 0;
    for (int i = 0; i < 30; ++i) {
        answered += box.take(asks()).size() == 2 ? 1 : 0;
        for (const test::SentFrame& sent : box.made()) {
            EXPECT_LE(sent.payload().size(), query().size());
        }
    }
    EXPECT_EQ(answered, 10);
}

TEST(Answers, ARefusedQuicConnectionIsClosedAtOnce) {
    AnsweringBox box{refuses("reset")};
    (void)box.take(Frame{17}.src("10.9.9.9"));
    const Frame came = initial();
    EXPECT_EQ(box.take(came).back(), "reset over_limit");
    ASSERT_EQ(box.made().size(), 1U);
    EXPECT_LE(box.made().front().payload().size(), kMostQuicClose);
    EXPECT_EQ(box.count(AnswerEvent::QuicClosed), 1U);
    EXPECT_EQ(box.take(initial(true)), (Lines{"drop over_limit"})) << "of less than 1,200 bytes";
}

}  // namespace
}  // namespace sluice::answer_cases_test
