#include "lib/policy/problems/problem.hpp"

#include <gtest/gtest.h>

namespace sluice::problem_test {
namespace {

struct Rendered {
    Position at;
    std::string_view message;
    std::string_view text;
    std::string_view want;
};

const Rendered kRendered[] = {
    {{2, 5}, "bad", "a\n\tb: \xC3\xA9 c\nd", "f:2:5: error: bad\n  \tb: \xC3\xA9 c\n  \t   ^"},
    {{1, 7}, "bad", "b: \xC3\xA9 c", "f:1:7: error: bad\n  b: \xC3\xA9 c\n       ^"},
    {{1, 4}, "bad", "a: ", "f:1:4: error: bad\n  a: \n     ^"},
    {{1, 3},
     "bad",
     "a\x1B"
     "b\r\nc",
     "f:1:3: error: bad\n  a\\x1b"
     "b\n       ^"},
    {{1, 3},
     "bad",
     "a\xFF"
     "b",
     "f:1:3: error: bad\n  a\\xff"
     "b\n       ^"},
    {{1, 4},
     "bad",
     "a\xC2\x9B"
     "b",
     "f:1:4: error: bad\n  a\\xc2\\x9b"
     "b\n           ^"},
    {{0, 0}, "bad", "a", "f: error: bad"},
    {{1, 1},
     "bad\nf:2:1: error: forged",
     "a",
     "f:1:1: error: bad\\x0af:2:1: error: forged\n  a\n  ^"},
    {{9, 1}, "bad", "a\nb", "f:9:1: error: bad"},
    {{1, 99}, "bad", "ab", "f:1:99: error: bad\n  ab\n    ^"},
};

TEST(Render, PutsTheCaretUnderTheColumn) {
    for (const Rendered& row : kRendered) {
        EXPECT_EQ(render({"f", row.at, Severity::Error, std::string{row.message}}, row.text),
                  row.want);
    }
}

TEST(Render, ShowsThePartOfALongLineThatMatters) {
    const std::string line = std::string(5000, 'x') + "HERE" + std::string(5000, 'y');
    const std::string shown = render({"f", {1, 5001}, Severity::Warning, "bad"}, line);
    EXPECT_LT(shown.size(), 600U);
    const std::size_t line_start = shown.find('\n') + 1;
    const std::size_t caret_start = shown.find('\n', line_start) + 1;
    EXPECT_EQ(shown.substr(line_start + shown.find('^') - caret_start, 4), "HERE");
    EXPECT_EQ(shown.substr(line_start, 5), "  ...");
}

TEST(Render, TearsNoCharacter) {
    std::string line;
    for (int i = 0; i < 3000; ++i) {
        line += "\xE2\x82\xAC";
    }
    for (std::uint32_t column = 1; column < 9000; column += 7) {
        const std::string shown = render({"f", {1, column}, Severity::Error, "bad"}, line);
        EXPECT_LE(shown.find("\\x"), std::string::npos);
    }
}

TEST(Problems, SaysEachThingOnce) {
    Problems problems{"f"};
    problems.error({1, 2}, "a");
    problems.error({1, 2}, "a");
    problems.warning({1, 2}, "a");
    problems.error({1, 3}, "a");
    EXPECT_EQ(problems.list().size(), 3U);
}

TEST(Problems, ListAndMessagesAreBounded) {
    Problems problems{"f"};
    for (std::uint32_t i = 1; i < 3000; ++i) {
        problems.warning({i, 1}, "w");
    }
    EXPECT_FALSE(problems.has_errors());
    EXPECT_EQ(problems.list().size(), Problems::kMaxShown + 1);
    EXPECT_NE(problems.list().back().message.find("there is more"), std::string::npos);
    problems.error({1, 1}, std::string(100'000, 'x'));  // warnings do not crowd errors out
    EXPECT_TRUE(problems.has_errors());
    EXPECT_EQ(problems.list().back().severity, Severity::Error);
    EXPECT_LE(problems.list().back().message.size(), Problems::kMaxMessage);
    EXPECT_FALSE(problems.is_full());
    for (std::uint32_t i = 1; i < 3000; ++i) {
        problems.error({i, 1}, "e");
    }
    EXPECT_TRUE(problems.is_full());
    EXPECT_EQ(problems.list().size(), 2 * (Problems::kMaxShown + 1));
}

}  // namespace
}  // namespace sluice::problem_test
