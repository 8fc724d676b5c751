#include "lib/l7/http1/followed_body.hpp"

#include "tests/unit/l7/http1/body_end.hpp"
#include "tests/unit/l7/http1/head_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::followed_body_test {
namespace {

using Kind = BodyFraming::Kind;

struct Outcome {
    std::size_t consumed = 0;
    bool is_done = false;
    bool is_broken = false;
    std::string shapes;
    bool operator==(const Outcome&) const = default;
};

// In pieces of `piece` bytes.
Outcome scan(BodyFraming framing, std::string_view bytes, std::size_t piece,
             BodyWatch watch = BodyWatch{}) {
    const test::BodyEnd end = test::follow_body(framing, watch, bytes_of(bytes), piece);
    EXPECT_TRUE(end.can_be);
    return {end.bytes, end.is_done, end.is_broken,
            test::names_of(end.shapes.without({HeadShape::RequestInBody}))};
}

struct Row {
    std::string body;
    std::string behind;  // not the body's
    std::string_view shapes;
    bool is_broken = false;
};

const std::string kLong(ChunkScanner::kMaxLine - 4, 'x');
const std::string kTrailers = "x:" + std::string(ChunkScanner::kMaxTrailers - 6, 'x');

TEST(FollowedBody, FindsTheEndOfChunksInAnyPieces) {
    const Row rows[] = {
        {"0\r\n\r\n", "GET", ""},
        {"5\r\nhello\r\n0\r\n\r\n", "GET", ""},
        {"1\r\n\r\r\n2\r\n0\r\r\n00000\r\n\r\n", "\r\n", ""},
        {"5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n", "", ""},
        {"0\r\nA: b\r\nC: d\r\n\r\n", "x", ""},
        {"5\nhello\n0\n\n", "x", "bare_lf"},
        {"0\r\nA: b\n\r\n", "x", "bare_lf"},
        {"0\r\nA: \rb\r\n\r\n", "x", "bare_cr"},
        {"5 \t\r\nhello\r\n0 ;x\r\n\r\n", "x", "chunk_line_space"},
        {"0;\x01\r\n\r\n", "x", "control_byte"},
        {"0;" + kLong + "\r\n\r\n", "x", ""},
        {"0\r\n" + kTrailers + "\r\n\r\n", "x", ""},
        {"\r", "\n0\r\n\r\n", "bad_chunk", true},
        {";", "x\r\n", "bad_chunk", true},
        {"-", "1\r\n", "bad_chunk", true},
        {"0x", "5\r\n", "bad_chunk", true},
        {"5\r\nhellox", "\r\n", "bad_chunk", true},
        {"5\r\nhello\rx", "\n", "bad_chunk", true},
        {"5\rx", "", "bad_chunk", true},
        {"5 5", "\r\n", "chunk_line_space bad_chunk", true},
        {"80000000", "\r\n", "bad_chunk", true},
        {"100000000", "\r\n", "bad_chunk", true},
        {"0000000080000000", "\r\n", "bad_chunk", true},
        {"0\r\n ", "\r\n", "bad_chunk", true},
        {"0\r\n:", " a\r\n", "bad_chunk", true},
        {"0\r\nGET ", "/ HTTP/1.1\r\n\r\n", "bad_chunk", true},
        {"0\r\nA\r", "\n\r\n", "bad_chunk", true},
        {"0\r\nA\n", "\n", "bad_chunk", true},
        {"0\r\nA: b\r\n ", "c\r\n\r\n", "bad_chunk", true},
        {"0\r\nA\t", ": b\r\n\r\n", "bad_chunk", true},
        {"0\r\nA:\r\nB-c: :\r\n\r\n", "x", ""},
        {"0;" + kLong + "xx\r", "\n", "bad_chunk", true},
        {"0\r\n" + kTrailers + "xx\r\n\r", "\n", "bad_chunk", true},
        {"0\r\n\rx", "", "bad_chunk", true},
    };
    for (const Row& row : rows) {
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{2}, std::size_t{7}, row.body.size() + 9}) {
            SCOPED_TRACE(test::quoted(row.body.substr(0, 60)) + " by " + std::to_string(piece));
            const Outcome right{row.body.size(), !row.is_broken, row.is_broken,
                                std::string{row.shapes}};
            const std::string bytes = row.body + row.behind;
            EXPECT_EQ(scan({Kind::Chunked}, bytes, piece), right);
            EXPECT_EQ(scan({Kind::Chunked}, bytes, piece, BodyWatch{true}), right);
        }
    }
}

// A server sends a file as one chunk, if it likes.
TEST(ChunkScanner, AnAnswersChunkMayBeOfAnySize) {
    const auto is_broken = [](ChunkScanner::Of of, std::string_view size) {
        ChunkScanner scanner{of};
        HeadShapes shapes;
        (void)scanner.feed(bytes_of(size), shapes);
        return scanner.is_broken();
    };
    using enum ChunkScanner::Of;
    EXPECT_FALSE(is_broken(Requests, "7FFFFFFF\r\n"));
    EXPECT_TRUE(is_broken(Requests, "80000000\r\n"));
    EXPECT_FALSE(is_broken(Answers, "7FFFFFFFFFFFFFFF\r\n"));
    EXPECT_TRUE(is_broken(Answers, "8000000000000000\r\n"));
}

TEST(FollowedBody, IsNotDoneBeforeItsLastByte) {
    const std::string body = "3;x\r\nabc\r\n0\r\nA: b\r\n\r\n";
    for (std::size_t size = 0; size < body.size(); ++size) {
        const Outcome outcome = scan({Kind::Chunked}, body.substr(0, size), 3);
        EXPECT_FALSE(outcome.is_done || outcome.is_broken) << size;
        EXPECT_EQ(outcome.consumed, size);
    }
}

TEST(ChunkScanner, StepsOverMissedBytesWithinAChunk) {
    HeadShapes shapes;
    ChunkScanner scanner;
    (void)scanner.feed(bytes_of("a\r\n01"), shapes);
    EXPECT_TRUE(scanner.skip(8));
    EXPECT_EQ(scanner.feed(bytes_of("\r\n0\r\n\r\nGET"), shapes), 7U);
    EXPECT_TRUE(scanner.is_done());
    ChunkScanner beyond;
    (void)beyond.feed(bytes_of("a\r\n01"), shapes);
    EXPECT_FALSE(beyond.skip(9));
    EXPECT_TRUE(beyond.is_broken());
    ChunkScanner in_line;
    EXPECT_TRUE(in_line.skip(0));
    EXPECT_FALSE(in_line.skip(1));
}

TEST(FollowedBody, StepsOverALength) {
    EXPECT_EQ(scan({Kind::Length, 5}, "helloGET", 3), (Outcome{5, true, false, ""}));
    EXPECT_EQ(scan({Kind::Length, 9}, "helloGET", 3), (Outcome{8, false, false, ""}));
}

// Requests of a connection one behind the other, each found from the end of the one before.
TEST(FollowedBody, LeadsFromHeadToHead) {
    const std::string all =
        "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\nGET /no HTTP/1.1\r\n\r\n"
        "POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n"
        "GET /no HTTP/1.1\r\n\r\n\r\n0\r\n\r\n"
        "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n"
        "\r\nGET /4 HTTP/1.1\r\nHost: h\r\n\r\n";
    std::string paths;
    for (std::string rest = all; !rest.empty();) {
        const test::ParsedHead parsed{rest};
        ASSERT_EQ(parsed.status, HeadStatus::Complete) << rest;
        paths += test::text(parsed.head.path);
        rest = rest.substr(parsed.head.size);
        const Outcome body = scan(parsed.head.body, rest, 5, watch_of(parsed.head));
        ASSERT_TRUE(body.is_done);
        rest = rest.substr(body.consumed);
    }
    EXPECT_EQ(paths, "/1/2/3/4");
}

}  // namespace
}  // namespace sluice::followed_body_test
