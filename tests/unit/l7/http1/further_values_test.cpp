#include "lib/l7/http1/further_values.hpp"
#include "lib/l7/http1/request_head.hpp"
#include "lib/l7/http1/request_texts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

// Values of a header or a cookie that rules name, between the first and the last.
namespace sluice::further_values_test {
namespace {

struct Found {
    std::vector<std::string> texts;  // each behind the name that it is one of
    bool is_cut = false;

    [[nodiscard]] bool operator==(const Found&) const = default;
};

struct ReadHead {
    ReadHead(const WantedHeaders& wanted, std::string_view lines)
        : request{"GET / HTTP/1.1\r\nHost: a\r\n" + std::string{lines} + "\r\n"} {
        EXPECT_EQ(parse_request_head(bytes_of(request), {wanted}, room, head),
                  HeadStatus::Complete);
    }

    std::string request;
    std::array<std::byte, 1024> room;
    RequestHead head;
};

Found found_in(const FurtherValues& further, const NameTable& names) {
    Found found{.is_cut = further.is_cut()};
    for (const FurtherValues::Value& value : further.values()) {
        found.texts.push_back(std::string{names.name(value.place)} + " " +
                              std::string{http1::as_text(value.text)});
    }
    return found;
}

Found further_of(const WantedHeaders& wanted, std::string_view lines) {
    return found_in(ReadHead{wanted, lines}.head.further, wanted.headers());
}

TEST(FurtherValues, AreThoseBetweenTheFirstAndTheLast) {
    const Result<WantedHeaders> wanted = WantedHeaders::make({"x-a", "X_B", "x-b", "cookie"}, {});
    ASSERT_TRUE(wanted);
    struct Row {
        std::string_view lines;
        std::vector<std::string> texts;
    };
    const Row rows[] = {
        {"X-A: 1\r\nX-A: 2\r\n", {}},
        {"X-A: 1\r\nX-A: 2\r\nX-A: 3\r\n", {"x-a 2"}},
        {"X-A: 1\r\nX-A: 1\r\nX-A: 3\r\n", {}},
        {"X-A: 1\r\nX-A: 2\r\nX-A: 2\r\nX-A: 1\r\nX-A: 3\r\n", {"x-a 2"}},
        {"X-A: 1\r\nX-A:\r\nX-A: 3\r\n", {"x-a "}},
        {"X-C: 1\r\nX-C: 2\r\nX-C: 3\r\n", {}},
        {"Connection: 1\r\nConnection: 2\r\nConnection: 3\r\n", {}},
        {"Cookie: 1\r\nCookie: 2\r\nCookie: 3\r\n", {"cookie 2"}},
        {"X_A: 1\r\nX.A: 2\r\nX!A: 3\r\n", {"x-a 2"}},
        {"X_B: 1\r\nX_B: 2\r\nX_B: 3\r\n", {"x_b 2", "x-b 2"}},
        {"X-A: 1\r\nX-A: 2\r\nX-A: 3\r\nX-A: 4\r\nX-A: 5\r\nX-A: 6\r\n",
         {"x-a 2", "x-a 3", "x-a 4", "x-a 5"}},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(further_of(*wanted, row.lines), (Found{.texts = row.texts})) << row.lines;
    }
}

TEST(FurtherValues, MoreThanFourAreTold) {
    const Result<WantedHeaders> wanted = WantedHeaders::make({"x", "y"}, {});
    ASSERT_TRUE(wanted);
    const std::string_view lines =
        "X: 1\r\nX: 2\r\nX: 3\r\nX: 4\r\nX: 5\r\nY: 1\r\nY: 2\r\nY: 3\r\nY: 4\r\n";
    EXPECT_EQ(further_of(*wanted, lines),
              (Found{.texts = {"x 2", "x 3", "x 4", "y 2"}, .is_cut = true}));
}

// Cookies have a bound of their own, and each name's its values.
TEST(FurtherValues, OfCookiesAreThoseBetweenTheFirstAndTheLast) {
    const Result<WantedHeaders> wanted = WantedHeaders::make({"cookie"}, {"s", "t"});
    ASSERT_TRUE(wanted);
    struct Row {
        std::string_view lines;
        Found found;
    };
    const Row rows[] = {
        {"Cookie: s=1; s=2\r\n", {}},
        {"Cookie: s=1; s=2; s=3\r\n", {.texts = {"s 2"}}},
        {"Cookie: s=1; t=1; s=2; t=2; s=3; t=3\r\n", {.texts = {"s 2", "t 2"}}},
        {"Cookie: s=1\r\nCookie: s=2\r\nCookie: s=3\r\n", {.texts = {"s 2"}}},
        {"Cookie: s=1; s=1; s=\r\nCookie: S=2; s=3; s=1; s=4\r\n", {.texts = {"s ", "s 3"}}},
        {"Cookie: s=1; s=2; s=2; s=1; s=2\r\n", {.texts = {"s 2"}}},
        {"Cookie: u=1; u=2; u=3\r\n", {}},
        {"Cookie: s=1; s=2; s=3; s=4; s=5; s=6\r\n", {.texts = {"s 2", "s 3", "s 4", "s 5"}}},
        {"Cookie: s=1; s=2; s=3; s=4; t=1; t=2; t=3; t=4\r\n",
         {.texts = {"s 2", "s 3", "t 2", "t 3"}}},
        {"Cookie: s=1; s=2; s=3; s=4; s=5; s=6; s=7\r\n",
         {.texts = {"s 2", "s 3", "s 4", "s 5"}, .is_cut = true}},
    };
    for (const Row& row : rows) {
        const ReadHead read{*wanted, row.lines};
        EXPECT_EQ(found_in(read.head.further_cookies, wanted->cookies()), row.found) << row.lines;
        EXPECT_FALSE(read.head.further.is_cut()) << row.lines;
    }
}

// Each proxy on the way adds a line, and the last one's counts.
TEST(FurtherValues, OfTheClientsHeaderAreNoneUnlessARuleNamesIt) {
    TextFieldSet read{kClientHeader, named_text(0)};
    const std::string_view lines = "X-Real: 1\r\nX-Real: 2\r\nX-Real: 3\r\n";
    const TextNames other{{TextName::Kind::Header, "x"}};
    const TextNames same{{TextName::Kind::Header, "X-Real"}};
    EXPECT_EQ(further_of(RequestTexts::make(other, read, "x-real")->wanted(), lines), Found{});
    EXPECT_EQ(further_of(RequestTexts::make(same, read, "x-real")->wanted(), lines),
              (Found{.texts = {"x-real 2"}}));
}

}  // namespace
}  // namespace sluice::further_values_test
