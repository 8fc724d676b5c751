#include "lib/l7/http1/resync.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace sluice::resync_test {
namespace {

struct Row {
    std::string bytes;
    bool is_found;
    std::size_t at;
};

TEST(Resync, FindsTheFirstLineOfARequest) {
    const std::string get = "GET / HTTP/1.1\r\n";
    const Row rows[] = {
        {get, true, 0},
        {"\r\n\r\n" + get, true, 4},
        {"rest of a body\r\n" + get, true, 16},
        {"rest of a body " + get, false, 31},  // no target stands second
        {"in=line " + get, false, 24},
        {"no blank" + std::string(60, 'x') + "\n" + get, true, 69},
        {"a: b\r\n\r\nPURGE /x HTTP/1.0\r\nHost", true, 8},
        {"x\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true, 2},
        {"x\r\nGET /long", false, 3},
        {"x\r\nGE", false, 3},
        {"\x16\x03\x01\n\n\n" + std::string(5, '\0'), false, 11},
        {"", false, 0},
    };
    for (const Row& row : rows) {
        const RequestStart start = find_request_start(bytes_of(row.bytes), 0);
        EXPECT_EQ(start.is_found, row.is_found) << row.bytes;
        EXPECT_EQ(start.at, row.at) << row.bytes;
    }
}

// A line that ends in a version counts where every byte is for a server.
TEST(Resync, OvercountsForAService) {
    const std::string get = "GET / HTTP/1.1\r\n";
    const Row rows[] = {
        {"rest of a body" + get, true, 0},
        {"rest of a body " + get, true, 0},
        {"in=line " + get, true, 0},
        {"rest\r\n\v" + get, true, 6},
        {"rest\nGET /x\n", true, 5},
        {"rest of a body\r\nmore", false, 16},
        {"a: b\r\n\r\n\x16\x03 x\n" + get, true, 13},
    };
    for (const Row& row : rows) {
        const RequestStart start =
            find_request_start(bytes_of(row.bytes), 0, ReadingStance::Service);
        EXPECT_EQ(start.is_found, row.is_found) << row.bytes;
        EXPECT_EQ(start.at, row.at) << row.bytes;
    }
}

TEST(Resync, GoesOnWhereMoreWasNeeded) {
    const std::string all = "body\r\nGET /a/long/path HTTP/1.1\r\n";
    for (std::size_t size = 0; size <= all.size(); ++size) {
        const RequestStart first = find_request_start(bytes_of(all).first(size), 0);
        const RequestStart then =
            first.is_found ? first : find_request_start(bytes_of(all), first.at);
        EXPECT_TRUE(then.is_found) << size;
        EXPECT_EQ(then.at, 6U) << size;
    }
}

TEST(Resync, HalfARequestIsOneThatBeginsAndDoesNotEnd) {
    using namespace std::string_view_literals;
    const auto is_half = [](std::string_view text) {
        return begins_half_request(std::as_bytes(std::span{text}), text.size());
    };
    for (const std::string_view half :
         {"GET /login "sv, "GET "sv, "GET /"sv, "GET /login HTTP/1.1\r\n"sv,
          "\r\nPOST /x HTTP/1."sv, "GET /login HTTP/1.1\r\nHost: a\r\n"sv, "OPTIONS * HT"sv,
          "GET http://a/ HTT"sv, "the end of a body\nGET /lo"sv}) {
        EXPECT_TRUE(is_half(half)) << half;
    }
    for (const std::string_view other :
         {""sv, "\r\n"sv, "GET /login HTTP/1.1\r\nHost: a\r\n\r\n"sv,
          "GET /login HTTP/1.1\nHost: a\n\nabc"sv, "\x01 no request"sv, "word"sv,
          "words of an upload that"sv}) {
        EXPECT_FALSE(is_half(other)) << other;
    }
}

TEST(Resync, HalfARequestMayBeOneOnlyBehindTheLineBefore) {
    using namespace std::string_view_literals;
    const auto is_half = [](std::string_view before, std::string_view fresh) {
        const std::string all = std::string{before}.append(fresh);
        return begins_half_request(bytes_of(all), fresh.size());
    };
    EXPECT_TRUE(is_half("PO"sv, "ST /x HTTP/1.1\r\n"sv));
    EXPECT_TRUE(is_half("PO"sv, "ST /"sv));
    EXPECT_TRUE(is_half("PO"sv, "GET /x HTTP/1.1\r\n\r\n"sv)) << "nothing tells where it begins";
    EXPECT_TRUE(is_half("PO"sv, "ST /x HTTP/1.1\r\n\r\n"sv)) << "a method of its own is there";
    EXPECT_FALSE(is_half("POST"sv, " /x HTTP/1.1\r\n\r\n"sv));
    EXPECT_FALSE(is_half("words of an"sv, " upload"sv));
}

// A line that came in two segments: what it is together, and by what came last alone.
TEST(Resync, ALineGoesOnWithTheNextSegmentOrBeginsThere) {
    using What = LinesLook::What;
    struct Lines {
        std::string before;
        std::string fresh;
        What what;
        std::size_t at;
    };
    const std::string get = "GET / HTTP/1.1\r\n";
    for (const Lines& row : {
             Lines{"", get, What::Request, 0},
             Lines{"GET", " /login HTTP/1.1\r\n", What::Request, 0},
             Lines{"GET", " /login\n", What::Request, 0},
             Lines{"GET x", "://h/login HTTP/1.1\r\n", What::Request, 0},
             Lines{"abc", "d\r\n" + get, What::Request, 6},
             Lines{"{\"a\": 1}", get, What::Request, 8},
             Lines{"", "x\n" + get, What::Request, 2},
             Lines{"P", "OST / HTTP/1.1\r\n", What::Doubtful, 0},
             Lines{"abc", get, What::Doubtful, 0},
             Lines{"", " /login HTTP/1.1\r\n", What::Doubtful, 0},
             Lines{"GET", " ", What::Half, 0},
             Lines{"GET", "  /lo", What::Half, 0},
             Lines{"abc def", "GET /lo", What::Half, 7},
             Lines{"", "x\nGET  ", What::Half, 2},
             Lines{"", "GET \t", What::Half, 0},
             Lines{"", "GET ht", What::Half, 0},
             Lines{"", "GET", What::MayBe, 0},
             Lines{"", "GET x", What::MayBe, 0},
             Lines{"G", "ET", What::MayBe, 0},
             Lines{"words of", " an upl", What::MayBe, 0},
             Lines{"abc", "{GET", What::None, 3},
             Lines{"{", "abc", What::MayBe, 1},
             Lines{"", "words of a line\r\n", What::None, 17},
             Lines{"", "\x16\x03 abc", What::None, 6},
             Lines{"", "\r\n  ", What::None, 2},
         }) {
        const LinesLook look =
            look_through_lines(bytes_of(row.before + row.fresh), row.fresh.size());
        EXPECT_EQ(look.what, row.what) << row.before << '|' << row.fresh;
        EXPECT_EQ(look.at, row.at) << row.before << '|' << row.fresh;
    }
}

}  // namespace
}  // namespace sluice::resync_test
