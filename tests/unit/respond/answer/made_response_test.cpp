#include "lib/respond/answer/made_response.hpp"

#include "lib/respond/answer/tcp_answer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <sstream>

namespace sluice::made_response_test {
namespace {

using Fields = std::map<std::string, std::string>;

struct Received {
    std::string status;
    Fields fields;
    std::string body;
};

// As a client reads it: a status line, fields of different names, an empty line, the rest.
Received read(const std::string& text) {
    Received received;
    const std::size_t head = text.find("\r\n\r\n");
    EXPECT_NE(head, std::string::npos);
    std::istringstream lines{text.substr(0, head + 2)};
    std::getline(lines, received.status);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(line.back(), '\r');
        const std::size_t colon = line.find(": ");
        const auto [at, is_new] = received.fields.emplace(
            line.substr(0, colon), line.substr(colon + 2, line.size() - colon - 3));
        EXPECT_TRUE(is_new) << line;
    }
    received.body = text.substr(head + 4);
    return received;
}

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

std::string text_of(const ResponseSpec& spec, const QuotaNumbers& numbers,
                    bool is_head_request = false) {
    const auto response = MadeResponse::compile(spec);
    EXPECT_TRUE(response) << (response ? "" : response.error().what);
    std::string text(response->max_size(), '?');
    text.resize(
        response->write(numbers, is_head_request, kDate, std::as_writable_bytes(std::span{text})));
    return text;
}

constexpr QuotaNumbers kNumbers{.quota = 100, .remaining = 3, .window = 60, .retry_after = 7};

TEST(MadeResponse, IsA429ThatNamesItsPolicy) {
    const Received got = read(text_of({.policy = "login/per-ip"}, kNumbers));
    EXPECT_EQ(got.status, "HTTP/1.1 429 Too Many Requests\r");
    const std::string body =
        R"({"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",)"
        R"("title":"Quota Exceeded","status":429,"violated-policies":["login/per-ip"]})";
    EXPECT_EQ(got.body, body);
    EXPECT_EQ(got.fields, (Fields{{"Content-Type", "application/problem+json"},
                                  {"Content-Length", std::to_string(body.size())},
                                  {"Date", std::string{kDate}},
                                  {"Cache-Control", "no-store"},
                                  {"Connection", "close"},
                                  {"Retry-After", "7"},
                                  {"RateLimit-Policy", R"("login/per-ip";q=100;w=60)"},
                                  {"RateLimit", R"("login/per-ip";r=3;t=7)"}}));
}

TEST(MadeResponse, SaysWhatIsAskedForBesides) {
    const Received got = read(text_of({.status = 503,
                                       .fields = {{"X-Why", "slow\tdown \xC3\xA9"}, {"Link", ""}},
                                       .body = "wait\n",
                                       .policy = "a",
                                       .unit = QuotaUnit::ContentBytes,
                                       .x_rate_limit = true},
                                      kNumbers));
    EXPECT_EQ(got.status, "HTTP/1.1 503 Service Unavailable\r");
    EXPECT_EQ(got.fields.at("X-Why"), "slow\tdown \xC3\xA9");
    EXPECT_EQ(got.fields.at("Link"), "");
    EXPECT_EQ(got.fields.at("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(got.fields.at("RateLimit-Policy"), R"("a";q=100;qu="content-bytes";w=60)");
    EXPECT_EQ(got.fields.at("X-RateLimit-Limit"), "100");
    EXPECT_EQ(got.fields.at("X-RateLimit-Remaining"), "3");
    EXPECT_EQ(got.fields.at("X-RateLimit-Reset"), "7");
    EXPECT_EQ(got.fields.at("Content-Length"), "5");
    EXPECT_EQ(got.body, "wait\n");
}

TEST(MadeResponse, LeavesOutWhatThereIsNot) {
    const QuotaNumbers never{.quota = 5};
    const Received got = read(text_of({.policy = "a", .x_rate_limit = true}, never));
    EXPECT_FALSE(got.fields.contains("Retry-After"));
    EXPECT_FALSE(got.fields.contains("X-RateLimit-Reset"));
    EXPECT_EQ(got.fields.at("RateLimit-Policy"), R"("a";q=5)");
    EXPECT_EQ(got.fields.at("RateLimit"), R"("a";r=0)");
}

TEST(MadeResponse, ADecoyShowsNoLimit) {
    const Received got =
        read(text_of({.status = 200, .body = "{}", .content_type = "application/json"}, kNumbers));
    EXPECT_EQ(got.status, "HTTP/1.1 200 OK\r");
    EXPECT_EQ(got.fields, (Fields{{"Content-Type", "application/json"},
                                  {"Content-Length", "2"},
                                  {"Date", std::string{kDate}},
                                  {"Cache-Control", "no-store"},
                                  {"Connection", "close"}}));
    EXPECT_EQ(got.body, "{}");
}

TEST(MadeResponse, HasAPlaceForAnotherDate) {
    const auto response = MadeResponse::compile({.fields = {{"X-Why", "so"}}, .policy = "a"});
    ASSERT_TRUE(response);
    std::string text = text_of({.fields = {{"X-Why", "so"}}, .policy = "a"}, kNumbers);
    const std::string before = text;
    const std::string_view later = "Sun, 06 Nov 1994 08:49:38 GMT";
    response->put_date(later, std::as_writable_bytes(std::span{text}));
    EXPECT_EQ(read(text).fields.at("Date"), later);
    response->put_date(kDate, std::as_writable_bytes(std::span{text}));
    EXPECT_EQ(text, before);
}

// A rule of before may have one: it has the last word.
TEST(MadeResponse, ADateOfTheRuleIsTheOnlyOne) {
    const ResponseSpec spec{.fields = {{"DATE", "today"}}, .policy = "a"};
    const Received got = read(text_of(spec, kNumbers));
    EXPECT_EQ(got.fields.at("DATE"), "today");
    EXPECT_FALSE(got.fields.contains("Date"));
    std::string text = text_of(spec, kNumbers);
    const std::string before = text;
    MadeResponse::compile(spec)->put_date(kDate, std::as_writable_bytes(std::span{text}));
    EXPECT_EQ(text, before);
}

TEST(MadeResponse, HeadHasTheSameHeadAndNoBody) {
    const ResponseSpec spec{.policy = "a"};
    const std::string whole = text_of(spec, kNumbers);
    EXPECT_EQ(text_of(spec, kNumbers, true), whole.substr(0, whole.find("\r\n\r\n") + 4));
}

TEST(MadeResponse, StatusesWithoutContent) {
    for (const std::uint16_t status : {std::uint16_t{204}, std::uint16_t{304}}) {
        const Received got = read(text_of({.status = status, .policy = "a"}, kNumbers));
        EXPECT_FALSE(got.fields.contains("Content-Length"));
        EXPECT_FALSE(got.fields.contains("Content-Type"));
        EXPECT_EQ(got.body, "");
        EXPECT_FALSE(MadeResponse::compile({.status = status, .body = "x"}));
    }
    const Received empty = read(text_of({.status = 299, .body = ""}, kNumbers));
    EXPECT_EQ(empty.status, "HTTP/1.1 299 \r");
    EXPECT_EQ(empty.fields.at("Content-Length"), "0");
    EXPECT_FALSE(empty.fields.contains("Content-Type"));
}

TEST(MadeResponse, QuotesNamesOfPolicies) {
    const Received got = read(text_of({.policy = R"(a"b\c)"}, kNumbers));
    EXPECT_EQ(got.fields.at("RateLimit"), R"("a\"b\\c";r=3;t=7)");
    EXPECT_NE(got.body.find(R"(["a\"b\\c"])"), std::string::npos);
}

TEST(MadeResponse, NumbersKeepToStructuredFields) {
    const std::uint64_t most = ~std::uint64_t{0} - 1;
    const ResponseSpec spec{.policy = "a", .x_rate_limit = true};
    const std::string text = text_of(spec, {most, most, most, most});
    EXPECT_EQ(text.size(), MadeResponse::compile(spec)->max_size());
    EXPECT_EQ(read(text).fields.at("RateLimit"), "\"a\";r=999999999999999;t=999999999999999");
}

TEST(MadeResponse, IsNoLargerThanThreeSegmentsHold) {
    const auto with_body = [](std::size_t size) {
        return MadeResponse::compile(
            {.body = std::string(size, 'x'), .policy = "a", .x_rate_limit = true});
    };
    std::size_t size = 1;
    while (with_body(size)) {
        ASSERT_LE(with_body(size)->max_size(), kMostResponseBytes);
        ++size;
    }
    EXPECT_GT(size, 1000U);
    EXPECT_EQ(with_body(size).error().code, Errc::OutOfRange);
    EXPECT_EQ(with_body(size - 1)->max_size(), kMostResponseBytes);
}

TEST(MadeResponse, RefusesWhatCannotBeSent) {
    const std::vector<ResponseSpec> wrong = {
        {.status = 199},
        {.status = 600},
        {.status = 206},
        {.status = 416},
        {.status = 426},
        {.status = 426, .fields = {{"Upgrade", "h2c"}}},
        {.fields = {{"", "x"}}},
        {.fields = {{"a b", "x"}}},
        {.fields = {{"a:", "x"}}},
        {.fields = {{"a", "x\r\nSet-Cookie: y"}}},
        {.fields = {{"a", "x\n"}}},
        {.fields = {{"a", std::string("x\0y", 3)}}},
        {.fields = {{"a", " x"}}},
        {.fields = {{"a", "x\t"}}},
        {.fields = {{"Content-Length", "1"}}},
        {.fields = {{"TRANSFER-ENCODING", "chunked"}}},
        {.fields = {{"Connection", "keep-alive"}}},
        {.fields = {{"Retry-After", "1"}}},
        {.content_type = "text/html\r\nX: y"},
        {.policy = "a\nb"},
        {.policy = "\xC3\xA9"},
    };
    for (const ResponseSpec& spec : wrong) {
        const auto response = MadeResponse::compile(spec);
        EXPECT_FALSE(response) << (spec.fields.empty() ? spec.policy : spec.fields[0].name);
    }
}

TEST(RetryAfter, IsRoundedUp) {
    using namespace std::chrono_literals;
    EXPECT_EQ(retry_after_seconds(-1ns), 0U);
    EXPECT_EQ(retry_after_seconds(0ns), 0U);
    EXPECT_EQ(retry_after_seconds(1ns), 1U);
    EXPECT_EQ(retry_after_seconds(1s), 1U);
    EXPECT_EQ(retry_after_seconds(1s + 1ns), 2U);
    EXPECT_EQ(retry_after_seconds(Nanoseconds::max()), 9'223'372'037U);
}

}  // namespace
}  // namespace sluice::made_response_test
