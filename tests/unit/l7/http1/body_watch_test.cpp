#include "lib/l7/http1/body_watch.hpp"

#include "lib/l7/http1/followed_body.hpp"
#include "tests/unit/l7/http1/body_end.hpp"
#include "tests/unit/l7/http1/head_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::body_watch_test {
namespace {

using Kind = BodyFraming::Kind;

const BodyWatch kLooks{true};

struct Outcome {
    bool is_request = false;
    bool is_done = false;
    std::size_t taken = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome follow(const BodyFraming& framing, BodyWatch watch, std::string_view bytes,
               std::size_t piece) {
    const test::BodyEnd end = test::follow_body(framing, watch, bytes_of(bytes), piece);
    EXPECT_TRUE(end.can_be);
    return {end.shapes.has(HeadShape::RequestInBody), end.is_done, end.bytes};
}

struct Row {
    std::string body;
    BodyWatch watch;
    bool is_request;
};

TEST(BodyWatch, FindsARequestInABodyOfKnownLengthInAnyPieces) {
    const Row rows[] = {
        {"GET /login HTTP/1.1\r\n", kLooks, true},
        {"\r\n\r\nGET /login\r\n", kLooks, true},
        {" \t\v\x1C\x85\xA0g", kLooks, true},
        {"a=b", kLooks, true},
        {"{\"query\": 1}", kLooks, false},
        {"\n [1]", kLooks, false},
        {"<propfind/>", kLooks, false},
        {"\"x\"", kLooks, false},
        {"\r\n\r\n", kLooks, false},
        {std::string(BodyWatch::kMostSpace, ' ') + "{", kLooks, false},
        {std::string(BodyWatch::kMostSpace + 1, '\n') + "{", kLooks, true},
        {"{\"a\": \"GET /x HTTP/1.1\"}\r\n", kLooks, false},
    };
    for (const Row& row : rows) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, row.body.size() + 9}) {
            SCOPED_TRACE(test::quoted(row.body) + " by " + std::to_string(piece));
            EXPECT_EQ(follow({Kind::Length, row.body.size()}, row.watch, row.body + "GET", piece),
                      (Outcome{row.is_request, true, row.body.size()}));
        }
    }
}

std::string chunks_of(std::string_view data) {
    std::string chunks;
    for (const char byte : data) {
        chunks += std::string{"1\r\n"} + byte + "\r\n";
    }
    return chunks + "0\r\n\r\n";
}

TEST(BodyWatch, LooksAtTheDataOfChunks) {
    const std::string spaces(ChunkLines::kMost + 5, ' ');
    const Row rows[] = {
        {chunks_of(spaces + "G"), kLooks, true},
        {chunks_of(spaces + "{G"), kLooks, false},
        {"5\r\nGET /\r\n0\r\n\r\n", kLooks, true},
        {"2\r\n\r\n\r\n1\r\nG\r\n0\r\n\r\n", kLooks, true},
        {"5\r\n{GET \r\n0\r\n\r\n", kLooks, false},
        {"5;x /login HTTP/1.1\r\n{GET \r\n0\r\n\r\n", kLooks, false},
        {"5\r\nGET /\r\n0\r\n\r\n", BodyWatch{}, false},
    };
    for (const Row& row : rows) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, row.body.size() + 9}) {
            SCOPED_TRACE(test::quoted(row.body) + " by " + std::to_string(piece));
            EXPECT_EQ(follow({Kind::Chunked}, row.watch, row.body + "GET", piece),
                      (Outcome{row.is_request, true, row.body.size()}));
        }
    }
}

// Another byte in the place of one that was looked at would be another body.
TEST(BodyWatch, SaysWhichBytesItHasLookedAt) {
    const auto looked_at = [](const BodyFraming& framing, BodyWatch watch, std::string_view body) {
        FollowedBody followed{framing, watch};
        HeadShapes shapes;
        ChunkLines lines;
        (void)followed.feed(bytes_of(body), shapes, lines);
        std::string places(body.size(), '.');
        for (const PayloadRange& range : lines.all()) {
            std::fill(places.begin() + range.begin, places.begin() + range.end, 'x');
        }
        return places;
    };
    EXPECT_EQ(looked_at({Kind::Length, 9}, kLooks, "\r\n{12345}"), "xxx......");
    EXPECT_EQ(looked_at({Kind::Chunked}, kLooks, "3\r\n{12\r\n0\r\n\r\n"), "xxxx..xxxxxxx");
    EXPECT_EQ(looked_at({Kind::Chunked}, BodyWatch{}, "3\r\n{12\r\n0\r\n\r\n"), "xxx...xxxxxxx");
}

BodyWatch watch(const std::string& line, const std::string& headers) {
    return watch_of(test::ParsedHead{line + " / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n"}.head);
}

TEST(BodyWatch, IsOverBodiesThatAServerMayLeaveUnread) {
    const std::string length = "Content-Length: 9\r\n";
    for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"}) {
        EXPECT_TRUE(watch(method, length).looks()) << method;
        EXPECT_TRUE(watch(method, "Transfer-Encoding: chunked\r\n").looks()) << method;
    }
    for (const char* method : {"POST", "PUT", "PATCH", "REPORT", "get"}) {
        EXPECT_FALSE(watch(method, length).looks()) << method;
    }
}

// The rest is nobody's to look at: it is stepped over, whatever is lost of it.
TEST(BodyWatch, IsOverWhenTheBodyHasBegun) {
    FollowedBody body{{Kind::Length, 9}, kLooks};
    HeadShapes shapes;
    ChunkLines lines;
    EXPECT_EQ(body.unwatched(), std::nullopt);
    EXPECT_EQ(body.feed(bytes_of("\r\n"), shapes, lines), 2U);
    EXPECT_EQ(body.unwatched(), std::nullopt);
    EXPECT_EQ(body.feed(bytes_of("{"), shapes, lines), 1U);
    EXPECT_EQ(body.unwatched(), std::optional<std::uint64_t>{6});
}

}  // namespace
}  // namespace sluice::body_watch_test
