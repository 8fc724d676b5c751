#include "lib/policy/yaml/place_path.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

constexpr const char* kPlacedText = R"(version: 1
rules:
  - id: a
    limits:
      - {algorithm: "token_bucket", rate: 5/s}
      - name
    when: ip.src in $bad
)";

std::string path_at(Position at) {
    const LineIndex lines{kPlacedText};
    Problems problems{""};
    const auto root = read_yaml(lines, problems);
    return root ? path_to(*root, at) : "no tree";
}

TEST(PathTo, NamesKeysAndItemsOnTheWay) {
    struct Case {
        Position at;
        const char* path;
    };
    for (const Case& one : {Case{{1, 1}, ""},  // where the whole map begins
                            {{1, 10}, "version"},
                            {{2, 1}, "rules"},
                            {{3, 5}, "rules[0]"},  // where the rule begins
                            {{3, 9}, "rules[0].id"},
                            {{5, 42}, "rules[0].limits[0].rate"},
                            {{6, 9}, "rules[0].limits[1]"},
                            {{7, 20}, "rules[0].when"},
                            {{9, 9}, "rules[0].when"}}) {
        EXPECT_EQ(path_at(one.at), one.path) << one.at.line << ":" << one.at.column;
    }
}

TEST(WordLength, IsOfTheNameNumberOrQuotedText) {
    const LineIndex lines{kPlacedText};
    EXPECT_EQ(word_length(lines, {1, 1}), 7U);
    EXPECT_EQ(word_length(lines, {5, 21}), 14U);
    EXPECT_EQ(word_length(lines, {5, 43}), 3U);
    EXPECT_EQ(word_length(lines, {5, 9}), 0U);
    EXPECT_EQ(word_length(lines, {0, 0}), 0U);
    EXPECT_EQ(word_length(lines, {99, 1}), 0U);
    EXPECT_EQ(word_length(LineIndex{"a: 'open"}, {1, 4}), 5U);
}

}  // namespace
}  // namespace sluice
