#include "lib/l7/http1/response_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::response_stream_test {
namespace {

using State = ResponseStream::State;
using Methods = std::vector<AskedMethod>;
constexpr auto kGet = AskedMethod::Other;
constexpr auto kHead = AskedMethod::Head;
constexpr auto kConnect = AskedMethod::Connect;
constexpr std::uint32_t kFirst = 0xFFFF'FFF0;  // numbers go on behind their largest

constexpr std::uint32_t at(std::size_t bytes) {
    return kFirst + static_cast<std::uint32_t>(bytes);
}

ResponseStream awaiting(const Methods& methods) {
    ResponseStream stream;
    stream.begin(kFirst);
    for (const AskedMethod method : methods) {
        stream.expect({.method = method});
    }
    return stream;
}
void feed(ResponseStream& stream, std::size_t from, std::string_view bytes, bool has_fin = false) {
    stream.feed(at(from), bytes_of(bytes), has_fin);
}

struct Row {
    std::string_view what;
    Methods methods;
    std::string bytes;
    State state;
    bool lasts = false;  // until the server closes
};

std::string head(std::string_view lines, std::string_view status = "200 OK") {
    return "HTTP/1.1 " + std::string{status} + "\r\n" + std::string{lines} + "\r\n";
}
const std::string kFive = head("Content-Length: 5\r\n") + "hello";
const std::string kChunks =
    head("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n";

const Row kRows[] = {
    {"nothing yet", {kGet}, "", State::UnderWay},
    {"a part of a head", {kGet}, "HTTP/1.1 200 OK\r\nContent-Le", State::UnderWay},
    {"a length", {kGet}, kFive, State::Idle},
    {"less than that", {kGet}, kFive.substr(0, kFive.size() - 1), State::UnderWay},
    {"more than that", {kGet}, kFive + "x", State::UnderWay, true},
    {"a length of zero", {kGet}, head("content-LENGTH:0\r\n"), State::Idle},
    {"blanks about it", {kGet}, head("Content-Length: \t 2 \t\r\n") + "ab", State::Idle},
    {"other lines",
     {kGet},
     head("Server: x\r\nContent-Lengthy: 9\r\nContent-Lengt: 9\r\nA:\r\nContent-Length: 1\r\n") +
         "a",
     State::Idle},
    {"bare line ends", {kGet}, "HTTP/1.1 200 OK\nContent-Length: 1\n\na", State::Idle},
    {"no reason phrase", {kGet}, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", State::Idle},
    {"HTTP/1.0 with a length",
     {kGet},
     "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
     State::Idle},
    {"two answers", {kGet, kGet}, kFive + kFive, State::Idle},
    {"one of two answers", {kGet, kGet}, kFive, State::UnderWay},
    {"chunks", {kGet}, kChunks, State::Idle},
    {"chunks without their end", {kGet}, kChunks.substr(0, kChunks.size() - 1), State::UnderWay},
    {"chunks behind another coding",
     {kGet},
     head("Transfer-Encoding: gzip , chunked \r\n") + "0\r\n\r\n",
     State::Idle},
    {"chunks in two lines",
     {kGet},
     head("Transfer-Encoding: gzip\r\nTransfer-Encoding:CHUNKED\r\n") + "0\r\n\r\n",
     State::Idle},
    {"chunks, then a length", {kGet, kGet}, kChunks + kFive, State::Idle},
    {"HEAD", {kHead}, head("Content-Length: 500\r\n"), State::Idle},
    {"HEAD, then GET", {kHead, kGet}, head("Content-Length: 5\r\n") + kFive, State::Idle},
    {"GET, then HEAD", {kGet, kHead}, kFive + head("Transfer-Encoding: chunked\r\n"), State::Idle},
    {"304", {kGet}, head("Content-Length: 5\r\n", "304 Not Modified"), State::Idle},
    {"204", {kGet}, head("", "204 No Content"), State::Idle},
    {"100 and 103, then the answer",
     {kGet},
     head("", "100 Continue") + head("Link: x\r\n", "103 Early Hints") + kFive,
     State::Idle},
    {"100 alone", {kGet}, head("", "100 Continue"), State::UnderWay},
    {"until close", {kGet}, head("") + "hello", State::UnderWay, true},
    {"a coding that is not chunked",
     {kGet},
     head("Transfer-Encoding: gzip\r\n") + "0\r\n\r\n",
     State::UnderWay,
     true},
    {"chunked is not the last",
     {kGet},
     head("Transfer-Encoding: chunked, gzip\r\n"),
     State::UnderWay,
     true},
    {"no word that is chunked",
     {kGet},
     head("Transfer-Encoding: chun ked\r\n"),
     State::UnderWay,
     true},
    {"chunks in HTTP/1.0",
     {kGet},
     "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
     State::UnderWay,
     true},
    {"both lengths",
     {kGet},
     head("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n",
     State::UnderWay,
     true},
    {"two lengths",
     {kGet},
     head("Content-Length: 5\r\nContent-Length: 5\r\n") + "hello",
     State::UnderWay,
     true},
    {"a list of lengths",
     {kGet},
     head("Content-Length: 5, 5\r\n") + "hello",
     State::UnderWay,
     true},
    {"no length", {kGet}, head("Content-Length: \r\n"), State::UnderWay, true},
    {"a length with a sign",
     {kGet},
     head("Content-Length: +5\r\n") + "hello",
     State::UnderWay,
     true},
    {"a length beyond all numbers",
     {kGet},
     head("Content-Length: 99999999999999999999\r\n"),
     State::UnderWay,
     true},
    {"a folded line", {kGet}, head("A: b\r\n c\r\nContent-Length: 0\r\n"), State::UnderWay, true},
    {"a blank before the colon", {kGet}, head("Content-Length : 0\r\n"), State::UnderWay, true},
    {"a line without a colon",
     {kGet},
     head("what\r\nContent-Length: 0\r\n"),
     State::UnderWay,
     true},
    {"a chunk that is none",
     {kGet},
     head("Transfer-Encoding: chunked\r\n") + "xyz\r\n",
     State::UnderWay,
     true},
    {"a chunk's line of two readings",
     {kGet},
     head("Transfer-Encoding: chunked\r\n") + "1 \r\na\r\n0\r\n\r\n",
     State::UnderWay,
     true},
    {"no HTTP at all", {kGet}, "SSH-2.0-x\r\n", State::UnderWay, true},
    {"another version", {kGet}, "HTTP/2.0 200 OK\r\n\r\n", State::UnderWay, true},
    {"no status", {kGet}, "HTTP/1.1 OK\r\n\r\n", State::UnderWay, true},
    {"nobody has asked", {}, kFive, State::UnderWay, true},
    {"101", {kGet}, head("Upgrade: websocket\r\n", "101 Switching Protocols") + "x", State::Tunnel},
    {"CONNECT", {kConnect}, head("", "200 OK") + "anything", State::Tunnel},
    {"a refused CONNECT", {kConnect}, head("Content-Length: 1\r\n", "403 No") + "x", State::Idle},
    {"a refused CONNECT, then GET",
     {kConnect, kGet},
     head("Content-Length: 0\r\n", "407 No") + kFive,
     State::Idle},
};

TEST(ResponseStream, EndsWhereItsAnswersEndWhateverThePieces) {
    for (const Row& row : kRows) {
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{9000}}) {
            SCOPED_TRACE(std::string{row.what} + " in pieces of " + std::to_string(piece));
            ResponseStream stream = awaiting(row.methods);
            for (std::size_t from = 0; from < row.bytes.size(); from += piece) {
                feed(stream, from, std::string_view{row.bytes}.substr(from, piece));
            }
            EXPECT_EQ(stream.state(), row.state);
            EXPECT_EQ(stream.lasts_until_close(), row.lasts);
            EXPECT_EQ(stream.next(), at(row.bytes.size()));
            EXPECT_EQ(stream.sent(), stream.next());
            feed(stream, row.bytes.size(), "", true);
            EXPECT_EQ(stream.state(), State::Closed);
            EXPECT_EQ(stream.next(), at(row.bytes.size() + 1));
        }
    }
}

TEST(ResponseStream, IsUnseenUntilItBegins) {
    ResponseStream stream;
    stream.expect({.method = kGet});
    feed(stream, 0, kFive);
    stream.acknowledge(kFirst + 5);
    EXPECT_EQ(stream.state(), State::Unseen);
    stream.begin(kFirst);
    EXPECT_EQ(stream.state(), State::Idle);
}

TEST(ResponseStream, IsUpgradedByTheAnswerToTheRequestThatAsked) {
    const auto upgraded = [](bool first, bool second, const std::string& answers) {
        ResponseStream stream;
        stream.begin(kFirst);
        stream.expect({.passes_upgrade = first});
        stream.expect({.passes_upgrade = second});
        feed(stream, 0, answers);
        return stream.is_upgraded();
    };
    const std::string agrees = head("", "101 Switching Protocols");
    const std::string declines = kFive;
    EXPECT_TRUE(upgraded(true, false, agrees));
    EXPECT_FALSE(upgraded(false, true, declines + agrees)) << "asked while another was awaited";
    EXPECT_FALSE(upgraded(true, false, declines + agrees)) << "nobody asked for that one";
    EXPECT_FALSE(upgraded(false, true, agrees));
    EXPECT_FALSE(upgraded(true, true, declines + declines));
    EXPECT_FALSE(upgraded(true, true, head("Content-Length: 60\r\n") + agrees)) << "in a body";
}

TEST(ResponseStream, IsUpgradedBehindAnswersButToHead) {
    const auto upgraded = [](AskedMethod first) {
        ResponseStream stream = awaiting({first});
        const std::string answer = head("Content-Length: 0\r\n");
        feed(stream, 0, answer);
        EXPECT_EQ(stream.state(), State::Idle);
        stream.expect({.passes_upgrade = true});
        feed(stream, answer.size(), head("", "101 Switching Protocols"));
        return stream.is_upgraded();
    };
    EXPECT_TRUE(upgraded(kGet));
    EXPECT_FALSE(upgraded(kHead)) << "some programs give its answer a body";
}

TEST(ResponseStream, AwaitsAnswersToHundredsOfRequests) {
    Methods methods(300, kGet);
    methods[299] = kHead;
    ResponseStream stream = awaiting(methods);
    EXPECT_FALSE(stream.lasts_until_close());
    std::string answers;
    for (std::size_t i = 0; i + 1 < methods.size(); ++i) {
        answers += kFive;
    }
    feed(stream, 0, answers);
    EXPECT_EQ(stream.state(), State::UnderWay);
    feed(stream, answers.size(), head("Content-Length: 7\r\n"));
    EXPECT_EQ(stream.state(), State::Idle) << "an answer to HEAD has no body";
}

TEST(ResponseStream, AwaitsABoundedNumberOfAnswers) {
    Methods methods;
    for (unsigned i = 0; i < AskedRequests::kMostListed; ++i) {
        methods.push_back(i % 2 == 0 ? kHead : kGet);
    }
    ResponseStream stream = awaiting(methods);
    EXPECT_FALSE(stream.lasts_until_close());
    stream.expect({.method = kHead});
    EXPECT_TRUE(stream.lasts_until_close()) << "one too many";
}

TEST(ResponseStream, AHeadIsBounded) {
    ResponseStream stream = awaiting({kGet});
    std::string bytes = "HTTP/1.1 200 OK\r\n";
    while (bytes.size() <= ResponseHead::kMaxSize) {
        bytes += "A: b\r\n";
    }
    feed(stream, 0, bytes);
    EXPECT_TRUE(stream.lasts_until_close());
}

// A body of a megabyte, of which nothing but the head is read.
TEST(ResponseStream, StepsOverAGapWithinABody) {
    const std::string begin = head("Content-Length: 1000000\r\n");
    ResponseStream stream = awaiting({kGet, kGet});
    feed(stream, 0, begin);
    feed(stream, begin.size() + 900'000, std::string(100'000, 'x'));
    EXPECT_EQ(stream.next(), at(begin.size() + 1'000'000));
    feed(stream, begin.size() + 1'000'000, kFive);
    EXPECT_EQ(stream.state(), State::Idle);
    feed(stream, begin.size() + 100, "again");
    EXPECT_EQ(stream.state(), State::Idle) << "what comes late is old";
}

TEST(ResponseStream, WaitsForWhatLiesBeforeAHead) {
    const std::string both = kFive + kFive;
    for (std::size_t cut = 1; cut < both.size(); ++cut) {
        ResponseStream stream = awaiting({kGet, kGet});
        const std::string_view bytes = both;
        feed(stream, cut, bytes.substr(cut));
        EXPECT_EQ(stream.state(), State::UnderWay);
        feed(stream, 0, bytes.substr(0, cut));
        EXPECT_EQ(stream.state(), State::UnderWay) << cut;
        feed(stream, cut, bytes.substr(cut));
        EXPECT_EQ(stream.state(), State::Idle) << cut;
        EXPECT_EQ(stream.next(), at(both.size()));
    }
}

// The client has what was sent ahead of the gap, so that it does not come again.
TEST(ResponseStream, IsLostWhereTheClientHasWhatWasNotRead) {
    const std::string_view bytes = kFive;
    ResponseStream stream = awaiting({kGet});
    feed(stream, 10, bytes.substr(10));
    feed(stream, 0, bytes.substr(0, 10));
    stream.acknowledge(kFirst + 10);
    EXPECT_FALSE(stream.lasts_until_close());
    stream.acknowledge(at(bytes.size() + 1));
    EXPECT_FALSE(stream.lasts_until_close()) << "what was not sent says nothing";
    stream.acknowledge(at(bytes.size()));
    EXPECT_TRUE(stream.lasts_until_close());
}

TEST(ResponseStream, IsNotLostWithinABodyOrAChunk) {
    for (const std::string& begin :
         {head("Content-Length: 1005\r\n"), head("Transfer-Encoding: chunked\r\n") + "3ed\r\n"}) {
        const std::string rest(995, 'x');
        const std::string end = begin.find("chunked") == std::string::npos ? "" : "\r\n0\r\n\r\n";
        ResponseStream stream = awaiting({kGet});
        feed(stream, 0, begin + "12345");
        feed(stream, begin.size() + 600, rest.substr(0, 400));
        feed(stream, begin.size() + 5, rest.substr(0, 10));
        stream.acknowledge(at(begin.size() + 1000));
        feed(stream, begin.size() + 1000, "12345" + end);
        EXPECT_EQ(stream.state(), State::Idle) << begin;
    }
}

TEST(ResponseStream, AFinBehindAGapIsNotYetThere) {
    ResponseStream stream = awaiting({kGet, kGet});
    feed(stream, 0, kFive);
    feed(stream, kFive.size() * 2, "", true);
    EXPECT_EQ(stream.state(), State::UnderWay);
    EXPECT_EQ(stream.sent(), at(2 * kFive.size() + 1));
    feed(stream, kFive.size(), kFive);
    EXPECT_EQ(stream.state(), State::Idle);
    feed(stream, kFive.size() * 2, "", true);
    EXPECT_EQ(stream.state(), State::Closed);
}

// Segments of any cut, repeated and out of order: what is told does not depend on it, as long as
// all come again until they have been read.
TEST(ResponseStream, IsTheSameForAnyOrder) {
    std::minstd_rand chance{1};
    for (const Row& row : kRows) {
        for (int round = 0; round < 50; ++round) {
            ResponseStream stream = awaiting(row.methods);
            const std::string_view bytes = row.bytes;
            while (stream.next() != at(bytes.size())) {
                const std::size_t from = chance() % bytes.size();
                feed(stream, from, bytes.substr(from, 1 + chance() % 40));
            }
            EXPECT_EQ(stream.state(), row.state) << row.what;
            EXPECT_EQ(stream.lasts_until_close(), row.lasts) << row.what;
        }
    }
}

}  // namespace
}  // namespace sluice::response_stream_test
