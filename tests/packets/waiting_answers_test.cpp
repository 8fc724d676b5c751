#include "tests/packets/answering_box.hpp"
#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Answers of the box on connections whose two directions it sees: to nobody whose handshake is not
// completed, and never into an answer of the server that is under way.
namespace sluice::waiting_answers_test {
namespace {

using namespace std::chrono_literals;
using test::AnsweringBox;
using test::Frame;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kClient = 1000;  // number of its first byte
constexpr std::uint32_t kServer = 7000;
constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kPsh = 0x08;
constexpr std::uint16_t kAck = 0x10;

const std::string kGet = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const std::string kHead = "HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const auto kGetSize = static_cast<std::uint32_t>(kGet.size());

// Requests to /no are refused from the first one on: the only one that a day has room for is gone.
std::string refuses(std::string_view action, unsigned burst = 1) {
    return "version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: request, limits: "
           "[{algorithm: token_bucket, rate: 1/d, burst: " +
           std::to_string(burst) + "}], on_exceed: {action: " + std::string{action} + "}}\n";
}

// One connection through a box, whose first request passes.
struct Dialogue {
    AnsweringBox box;
    Instant now{1h};
    std::uint16_t port = 40'000;

    explicit Dialogue(std::string_view action = "reply, body: no", unsigned burst = 1)
        : box{refuses(action, burst)} {
        box.prove_clients(false);
    }
    [[nodiscard]] Frame of_client(std::string_view text, std::uint32_t at, std::uint32_t ack,
                                  std::uint16_t flags = kAck) const {
        return test::tcp()
            .src("10.0.0.1")
            .dst("10.0.0.2")
            .sport(port)
            .dport(80)
            .seq(kClient + at)
            .ack(kServer + ack)
            .flags(flags)
            .carries(test::octets_of(text));
    }
    [[nodiscard]] Frame of_server(std::string_view text, std::uint32_t at, std::uint32_t ack,
                                  std::uint16_t flags = kAck) const {
        return test::tcp()
            .src("10.0.0.2")
            .dst("10.0.0.1")
            .sport(80)
            .dport(port)
            .seq(kServer + at)
            .ack(kClient + ack)
            .flags(flags)
            .carries(test::octets_of(text));
    }
    Lines client(std::string_view text, std::uint32_t at, std::uint32_t ack,
                 std::uint16_t flags = kAck) {
        return box.take(of_client(text, at, ack, flags), Direction::In, now);
    }
    Lines server(std::string_view text, std::uint32_t at, std::uint32_t ack,
                 std::uint16_t flags = kAck) {
        return box.take(of_server(text, at, ack, flags), Direction::Out, now);
    }
    void open() {
        client({}, 0U - 1U, 0, kSyn);
        server({}, 0U - 1U, 0, kSyn | kAck);
        client({}, 0, 0);
    }
    // The first request has gone to the server, and the second one has been refused.
    Lines ask_twice(std::string_view first = kGet) {
        open();
        EXPECT_EQ(client(first, 0, 0), (Lines{"pass within_limits"}));
        asked = static_cast<std::uint32_t>(first.size());
        return client(kGet, asked, 0);
    }
    std::uint32_t asked = 0;  // behind the first request
};

std::string response(std::string_view lines, std::string_view body = {},
                     std::string_view status = "200 OK") {
    return "HTTP/1.1 " + std::string{status} + "\r\n" + std::string{lines} + "\r\n" +
           std::string{body};
}
std::uint32_t size_of(std::string_view text) {
    return static_cast<std::uint32_t>(text.size());
}
std::string numbers(std::uint32_t seq, std::uint32_t ack) {
    return std::to_string(seq) + ":" + std::to_string(ack);
}

TEST(WaitingAnswers, ARefusalGoesBehindADownload) {
    Dialogue of;
    EXPECT_EQ(of.ask_twice(), (Lines{"reply over_limit"})) << "nothing is sent yet";
    EXPECT_EQ(of.box.count(AnswerEvent::Waiting), 1U);
    const std::string head = response("Content-Length: 100000\r\n");
    EXPECT_EQ(of.server(head, 0, of.asked), (Lines{"pass unmatched"}));
    const std::string piece(1000, 'x');
    std::uint32_t at = size_of(head);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(of.server(piece, at, of.asked), (Lines{"pass unmatched"}));
        EXPECT_EQ(of.client({}, of.asked + kGetSize, at), (Lines{"pass unmatched"}));
        at += 1000;
        if (i % 10 == 0) {
            EXPECT_EQ(of.client(kGet, of.asked, at), (Lines{"drop answered"}))
                << "the request again, which does not acknowledge all of it" << i;
        }
    }
    const Lines lines = of.client({}, of.asked + kGetSize, at);
    EXPECT_EQ(lines,
              (Lines{"< FPA " + numbers(kServer + at, kClient + of.asked + kGetSize) + " 264",
                     "> RA " + numbers(kClient + of.asked, kServer + at), "drop answered"}));
    EXPECT_EQ(of.box.count(AnswerEvent::Replied), 1U);
    EXPECT_EQ(of.box.count(AnswerEvent::MayBeAnswering), 0U);
    EXPECT_EQ(of.client(kGet, of.asked, at), (Lines{lines.front(), "drop answered"}))
        << "it comes again since the answer was lost";
    EXPECT_EQ(of.server({}, at, of.asked).back(), "drop answered");
}

struct Answer {
    std::string_view what;
    std::string_view request;
    std::string bytes;
};

TEST(WaitingAnswers, ARefusalGoesBehindAnAnswerOfAnyFraming) {
    const Answer answers[] = {
        {"a length", kGet, response("Content-Length: 5\r\n", "hello")},
        {"no body", kGet, response("Content-Length: 0\r\n")},
        {"chunks", kGet, response("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")},
        {"HEAD", kHead, response("Content-Length: 500\r\n")},
        {"304", kGet, response("Content-Length: 500\r\n", "", "304 Not Modified")},
        {"204", kGet, response("", "", "204 No Content")},
        {"1xx before it", kGet,
         response("", "", "103 Early Hints") + response("Content-Length: 1\r\n", "x")},
    };
    for (const Answer& row : answers) {
        for (std::size_t cut = 0; cut < row.bytes.size(); cut += 3) {
            SCOPED_TRACE(std::string{row.what} + " cut at " + std::to_string(cut));
            Dialogue of;
            EXPECT_EQ(of.ask_twice(row.request), (Lines{"reply over_limit"}));
            const std::uint32_t behind = of.asked + kGetSize;
            if (cut != 0) {
                EXPECT_EQ(of.server(row.bytes.substr(0, cut), 0, of.asked).size(), 1U);
                EXPECT_EQ(of.client({}, behind, static_cast<std::uint32_t>(cut)),
                          (Lines{"pass unmatched"}));
            }
            EXPECT_EQ(of.server(row.bytes.substr(cut), static_cast<std::uint32_t>(cut), of.asked),
                      (Lines{"pass unmatched"}));
            EXPECT_EQ(of.client({}, behind, size_of(row.bytes) - 1), (Lines{"pass unmatched"}));
            EXPECT_EQ(of.client({}, behind, size_of(row.bytes)).front(),
                      "< FPA " + numbers(kServer + size_of(row.bytes), kClient + behind) + " 264");
        }
    }
}

TEST(WaitingAnswers, WhereTheAnswerBeforeHasEndedThereIsNoWait) {
    Dialogue of;
    of.open();
    const std::string answer = response("Content-Length: 5\r\n", "hello");
    EXPECT_EQ(of.client(kGet, 0, 0), (Lines{"pass within_limits"}));
    of.server(answer, 0, kGetSize);
    EXPECT_EQ(of.client(kGet, kGetSize, size_of(answer)),
              (Lines{"< FPA " + numbers(kServer + size_of(answer), kClient + 2 * kGetSize) + " 264",
                     "> RA " + numbers(kClient + kGetSize, kServer + size_of(answer)),
                     "reply over_limit"}));
    EXPECT_EQ(of.box.count(AnswerEvent::Waiting), 0U);
}

// The client's numbers alone would have it answered: it has acknowledged more since its request.
TEST(WaitingAnswers, AnAnswerThatIsHalfReadIsUnderWay) {
    Dialogue of;
    of.open();
    (void)of.client(kGet, 0, 0);
    of.server(response("Content-Length: 5\r\n", "he"), 0, kGetSize);
    EXPECT_EQ(of.client(kGet, kGetSize, 20), (Lines{"reply over_limit"}));
    EXPECT_EQ(of.box.count(AnswerEvent::Waiting), 1U);
}

TEST(WaitingAnswers, NothingBehindARefusalIsForwarded) {
    Dialogue of;
    (void)of.ask_twice();
    const std::uint32_t behind = of.asked + kGetSize;
    EXPECT_EQ(of.client(kGet, behind, 0), (Lines{"drop answered"})) << "one waits";
    EXPECT_EQ(of.client("more", behind + kGetSize, 0), (Lines{"drop answered"}));
    EXPECT_EQ(of.client({}, behind + kGetSize + 4, 0, kFin | kAck), (Lines{"drop answered"}));
    EXPECT_EQ(of.client(kGet, 0, 0).back().substr(0, 4), "pass")
        << "what comes before it, once more";
    EXPECT_EQ(of.client({}, behind, 0), (Lines{"pass unmatched"}));
}

// A server that closes behind its answer leaves no place for another one.
TEST(WaitingAnswers, AServerThatClosesEndsTheWait) {
    for (const std::string& answer : {response("Content-Length: 2\r\nConnection: close\r\n", "ok"),
                                      response("", "until close")}) {
        Dialogue of;
        (void)of.ask_twice();
        const std::uint32_t end = size_of(answer);
        const std::uint32_t behind = of.asked + kGetSize;
        EXPECT_EQ(of.server(answer, 0, of.asked, kFin | kAck), (Lines{"pass unmatched"}));
        EXPECT_EQ(of.client({}, behind, end - 1), (Lines{"pass unmatched"}));
        EXPECT_EQ(
            of.client({}, behind, end + 1),
            (Lines{"> RA " + numbers(kClient + of.asked, kServer + end + 1), "drop answered"}));
        EXPECT_EQ(of.box.count(AnswerEvent::Unanswered), 1U);
        EXPECT_EQ(of.client(kGet, of.asked, end + 1),
                  (Lines{"< RA " + numbers(kServer + end + 1, kClient + behind), "drop answered"}))
            << "its client goes on";
    }
}

TEST(WaitingAnswers, WhatCannotBeFramedLastsUntilClose) {
    Dialogue of;
    (void)of.ask_twice();
    const std::string answer = response("", "whatever");
    of.server(answer, 0, of.asked);
    for (int i = 0; i < 10; ++i) {
        of.now += 1s;
        EXPECT_EQ(of.client({}, of.asked + kGetSize, size_of(answer)), (Lines{"pass unmatched"}));
        EXPECT_EQ(of.client(kGet, of.asked, size_of(answer)), (Lines{"drop answered"}));
    }
    of.now += kAnswerStall + 1s;
    EXPECT_EQ(
        of.client(kGet, of.asked, size_of(answer)),
        (Lines{"< RA " + numbers(kServer + size_of(answer), kClient + of.asked + kGetSize),
               "> RA " + numbers(kClient + of.asked, kServer + size_of(answer)), "drop answered"}));
    EXPECT_EQ(of.box.count(AnswerEvent::Unanswered), 1U);
}

TEST(WaitingAnswers, AClientThatNeverAcknowledgesIsReset) {
    Dialogue of;
    (void)of.ask_twice();
    const std::string answer = response("Content-Length: 5\r\n", "hello");
    EXPECT_EQ(of.server(answer, 0, of.asked), (Lines{"pass unmatched"}));
    of.now += kAnswerStall - 1s;
    EXPECT_EQ(of.server(answer, 0, of.asked), (Lines{"pass unmatched"})) << "its server repeats it";
    of.now += 2s;
    EXPECT_EQ(of.server(answer, 0, of.asked),
              (Lines{"< RA " + numbers(kClient + of.asked, kServer + size_of(answer)),
                     "> RA " + numbers(kServer, kClient + of.asked), "drop answered"}));
    EXPECT_EQ(of.box.count(AnswerEvent::Unanswered), 1U);
}

TEST(WaitingAnswers, AnAnswerThatGoesOnIsWaitedForAWhile) {
    Dialogue of;
    (void)of.ask_twice();
    const std::string head = response("Content-Length: 1000000\r\n");
    of.server(head, 0, of.asked);
    std::uint32_t at = size_of(head);
    const Instant since = of.now;
    Lines lines{"pass unmatched"};
    while (lines == Lines{"pass unmatched"}) {
        of.now += 30s;
        EXPECT_EQ(of.server("more", at, of.asked).size(), 1U);
        at += 4;
        lines = of.client({}, of.asked + kGetSize, at);
    }
    EXPECT_EQ(lines.back(), "drop answered");
    EXPECT_GE(of.now - since, kLongestAnswerWait);
    EXPECT_LE(of.now - since, kLongestAnswerWait + 60s);
    EXPECT_EQ(of.box.count(AnswerEvent::Unanswered), 1U);
}

TEST(WaitingAnswers, ARefusalUnderOtherRulesSaysNothing) {
    Dialogue of;
    (void)of.ask_twice();
    const std::string answer = response("Content-Length: 5\r\n", "hello");
    of.server(answer, 0, of.asked);
    ASSERT_TRUE(of.box.box().reload(refuses("reply, body: other")).has_value());
    EXPECT_EQ(
        of.client({}, of.asked + kGetSize, size_of(answer)),
        (Lines{"> RA " + numbers(kClient + of.asked, kServer + size_of(answer)), "drop answered"}));
}

TEST(WaitingAnswers, SayHowLongToWaitFromThenOn) {
    Dialogue of{"reply, body: no"};
    (void)of.ask_twice();
    const std::string answer = response("Content-Length: 5\r\n", "hello");
    of.now += 50s;
    of.server(answer, 0, of.asked);
    (void)of.client({}, of.asked + kGetSize, size_of(answer));
    const std::string text = of.box.made().front().text();
    EXPECT_NE(text.find("Retry-After: 86350\r\n"), std::string::npos) << text;
}

TEST(WaitingAnswers, ForgedSegmentsEndNoWait) {
    Dialogue of;
    (void)of.ask_twice();
    const std::string answer = response("Content-Length: 5\r\n", "hello");
    of.server(answer.substr(0, 20), 0, of.asked);
    const std::uint32_t behind = of.asked + kGetSize;
    EXPECT_EQ(of.client({}, 77'777'777, 20, kSyn).back(), "pass unmatched");
    EXPECT_EQ(of.client({}, behind, 1'000'000).back(), "pass unmatched") << "not sent yet";
    EXPECT_EQ(of.client({}, 0x7000'0000, 20, kRst).back(), "pass unmatched");
    of.server(answer.substr(20), 20, of.asked);
    EXPECT_EQ(of.client({}, behind, size_of(answer)).front(),
              "< FPA " + numbers(kServer + size_of(answer), kClient + behind) + " 264");
}

TEST(WaitingAnswers, ATunnelIsNoAnswer) {
    Dialogue of;
    (void)of.ask_twice();
    of.server(response("Upgrade: websocket\r\n", "", "101 Switching Protocols"), 0, of.asked);
    EXPECT_EQ(of.client({}, of.asked + kGetSize, 30).front().substr(0, 4), "> RA")
        << "the server reads no request any more";
}

// A request in pieces, as lib/l7/stream knows them, whose last one is refused.
TEST(WaitingAnswers, ARequestInPiecesWaitsAtItsLast) {
    Dialogue of;
    of.open();
    (void)of.client(kGet, 0, 0);
    EXPECT_EQ(of.client(kGet.substr(0, 9), kGetSize, 0), (Lines{"pass unmatched"}));
    EXPECT_EQ(of.client(kGet.substr(9), kGetSize + 9, 0), (Lines{"reply over_limit"}));
    const std::string answer = response("Content-Length: 0\r\n");
    of.server(answer, 0, kGetSize);
    EXPECT_EQ(of.client({}, 2 * kGetSize, size_of(answer)),
              (Lines{"< FPA " + numbers(kServer + size_of(answer), kClient + 2 * kGetSize) + " 264",
                     "> RA " + numbers(kClient + kGetSize + 9, kServer + size_of(answer)),
                     "drop answered"}));
}

// All in the burst of the refusal.
TEST(WaitingAnswers, TheRestOfTheBurstGoesOn) {
    Dialogue of;
    of.open();
    const Lines lines =
        of.box.take(std::vector<Frame>{of.of_client(kGet, 0, 0), of.of_client(kGet, kGetSize, 0),
                                       of.of_client("more", 2 * kGetSize, 0)},
                    Direction::In, of.now);
    EXPECT_EQ(lines, (Lines{"pass within_limits", "reply over_limit", "drop answered"}));
    const std::string answer = response("Content-Length: 0\r\n");
    of.server(answer, 0, kGetSize);
    const Lines more = of.box.take(
        std::vector<Frame>{of.of_client({}, 2 * kGetSize + 4, 3), of.of_client(kGet, kGetSize, 3),
                           of.of_client({}, 2 * kGetSize + 4, size_of(answer)),
                           of.of_client({}, 2 * kGetSize + 4, size_of(answer))},
        Direction::In, of.now);
    EXPECT_EQ(more.size(), 6U);
    EXPECT_EQ(more.back(), "drop answered");
}

TEST(UnprovenAnswers, NothingIsSentBeforeAHandshake) {
    for (const std::string_view action : {"reply, body: no", "decoy, body: ok"}) {
        Dialogue of{action};
        of.port = 9;
        (void)of.client(kGet, 0, 0);
        of.port = 40'000;
        EXPECT_EQ(of.client(kGet, 0, 0), (Lines{"drop over_limit"})) << "no SYN";
        EXPECT_EQ(of.box.count(AnswerEvent::Unproven), 1U);
        for (const std::uint32_t guess : {1U, 5000U, 0x8000'0000U}) {
            ++of.port;
            of.client({}, 0U - 1U, 0, kSyn);
            of.server({}, 0U - 1U, 0, kSyn | kAck);
            EXPECT_EQ(of.client(kGet, 0, guess), (Lines{"drop over_limit"})) << guess;
            EXPECT_EQ(of.server({}, 0, 0), (Lines{"pass unmatched"})) << "no state follows from it";
        }
    }
}

TEST(UnprovenAnswers, TheRequestItselfMayCompleteTheHandshake) {
    Dialogue of;
    of.port = 9;
    (void)of.client(kGet, 0, 0);
    of.port = 40'000;
    of.client({}, 0U - 1U, 0, kSyn);
    of.server({}, 0U - 1U, 0, kSyn | kAck);
    EXPECT_EQ(of.client(kGet, 0, 0).front(),
              "< FPA " + numbers(kServer, kClient + kGetSize) + " 264");
}

// At a worker that sees the client alone, the server's SYN-ACK and what it pushes tell.
TEST(UnprovenAnswers, WhatAnotherWorkerHasSeenProvesAClient) {
    AnswerBoards boards = AnsweringBox::boards();
    AnsweringBox clients{refuses("reply, body: no"), boards};
    AnsweringBox servers{refuses("reply, body: no"), boards};
    clients.prove_clients(false);
    Dialogue of;
    (void)clients.take(of.of_client(kGet, 0, 0).sport(9));
    EXPECT_EQ(clients.take(of.of_client(kGet, 0, 0).sport(10)).back(), "drop over_limit");
    (void)servers.take(of.of_server({}, 0U - 1U, 0, kSyn | kAck), Direction::Out);
    EXPECT_EQ(clients.take(of.of_client(kGet, 0, 0)).front().substr(0, 5), "< FPA");

    (void)servers.take(of.of_server("an answer", 500, 70, kPsh | kAck).dport(40'001),
                       Direction::Out);
    (void)servers.take(of.of_server("an answer", 500, 70, kPsh | kAck).dport(40'002),
                       Direction::Out);
    EXPECT_EQ(clients.take(of.of_client(kGet, 0, 508).sport(40'002)).back(), "drop over_limit");
    EXPECT_EQ(clients.take(of.of_client(kGet, 0, 509).sport(40'001)).back(), "reply over_limit");
}

// Whatever comes on connections that have not completed their handshake, no more goes back.
TEST(UnprovenAnswers, NoMoreLeavesThanCame) {
    for (const std::string_view action :
         {"reply, body: no", "decoy, body: ok", "reset", "reply, body: no, tls_fallback: alert"}) {
        for (const std::string_view per : {"request", "packet"}) {
            AnsweringBox box{"version: 1\nrules:\n  - {id: all, mode: enforce, key: [], per: " +
                             std::string{per} +
                             ", limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], "
                             "on_exceed: {action: " +
                             std::string{action} + "}}\n"};
            box.prove_clients(false);
            Dialogue of;
            (void)box.take(of.of_client(kGet, 0, 0).sport(9));
            for (const std::uint16_t flags : {kSyn, kAck, kFin, kPsh, std::uint16_t{kSyn | kAck},
                                              std::uint16_t{kFin | kAck}, std::uint16_t{0}}) {
                for (const std::string_view text : {std::string_view{}, std::string_view{kGet}}) {
                    for (int again = 0; again < 3; ++again) {
                        const Frame came = of.of_client(text, 0, 0, flags).sport(flags);
                        (void)box.take(came);
                        std::size_t sent = 0;
                        for (const test::SentFrame& frame : box.made()) {
                            sent += frame.headers().ip_len;
                        }
                        EXPECT_LE(sent, 40 + text.size()) << action << " " << flags << " " << text;
                    }
                }
            }
        }
    }
}

// Where a service's answers go another way nothing proves a handshake: a client that has gone
// through all of one gets a RST in the place of an answer, or nothing.
TEST(UnprovenAnswers, OneWayNothingLongerThanWhatCameIsSent) {
    const test::Octets hello = test::HelloMaker{}.records();
    const std::string in_tls{reinterpret_cast<const char*>(hello.data()), hello.size()};
    for (const std::string_view action :
         {"reply, body: no", "decoy, body: ok", "reply, body: no, tls_fallback: alert"}) {
        for (const auto& [protocol, per, text] :
             {std::tuple{"http", "request", std::string_view{kGet}},
              std::tuple{"tls", "handshake", std::string_view{in_tls}}}) {
            SCOPED_TRACE(std::string{protocol} + " " + std::string{action});
            AnsweringBox box{
                "version: 1\nservices:\n  - {id: s, protocol: " + std::string{protocol} +
                ", when: l4.dport eq 80, mode: enforce, checksums: trust, path: "
                "inbound}\nrules:\n  - {id: all, mode: enforce, key: [], per: " +
                per +
                ", limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}], "
                "on_exceed: {action: " +
                std::string{action} + "}}\n"};
            Dialogue of;
            for (const std::uint16_t port : {std::uint16_t{9}, std::uint16_t{10}}) {
                of.port = port;
                (void)box.take(of.of_client({}, 0U - 1U, 0, kSyn));
                (void)box.take(of.of_client({}, 0, 0));
                const Lines lines = box.take(of.of_client(text, 0, 0));
                EXPECT_EQ(lines.back(), port == 9 ? "pass within_limits" : "reset over_limit");
                std::size_t sent = 0;
                for (const test::SentFrame& frame : box.made()) {
                    EXPECT_EQ(frame.headers().payload_len, 0U);
                    EXPECT_NE(frame.headers().tcp_flags & kRst, 0) << "nothing but a RST";
                    sent += frame.headers().ip_len;
                }
                EXPECT_LE(sent, 40 + text.size());
                EXPECT_EQ(box.made().size(), port == 9 ? 0U : 1U);
            }
        }
    }
}

// Requests that wait for their answers are known by what they ask, however many they are, in
// whatever segments they come.
TEST(WaitingAnswers, ARefusalGoesBehindNinetyNineAnswers) {
    for (const std::size_t in_segment : {std::size_t{1}, std::size_t{20}, std::size_t{99}}) {
        SCOPED_TRACE(in_segment);
        Dialogue of{"reply, body: no", 99};
        of.open();
        std::uint32_t asked = 0;
        for (std::size_t i = 0; i < 99; i += in_segment) {
            std::string crowd;
            for (std::size_t more = i; more < std::min<std::size_t>(99, i + in_segment); ++more) {
                crowd += kGet;
            }
            EXPECT_EQ(of.client(crowd, asked, 0), (Lines{"pass within_limits"}));
            asked += size_of(crowd);
        }
        EXPECT_EQ(of.client(kGet, asked, 0), (Lines{"reply over_limit"})) << "nothing is sent yet";
        const std::string answer = response("Content-Length: 300\r\n", std::string(300, 'x'));
        std::uint32_t at = 0;
        for (int i = 0; i < 99; ++i) {
            EXPECT_EQ(of.client({}, asked + kGetSize, at), (Lines{"pass unmatched"})) << i;
            EXPECT_EQ(of.server(answer, at, asked), (Lines{"pass unmatched"})) << i;
            at += size_of(answer);
        }
        const Lines lines = of.client({}, asked + kGetSize, at);
        ASSERT_EQ(lines.size(), 3U);
        EXPECT_TRUE(
            lines[0].starts_with("< FPA " + numbers(kServer + at, kClient + asked + kGetSize)));
        EXPECT_EQ(of.box.count(AnswerEvent::Replied), 1U);
    }
}

}  // namespace
}  // namespace sluice::waiting_answers_test
