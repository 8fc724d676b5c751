#include "lib/policy/yaml/scalar_places.hpp"

#include <gtest/gtest.h>

namespace sluice::scalar_places_test {
namespace {

// In each file the scalar under `k` has `find` once; so has the file, at the place expected.
struct Row {
    std::string_view file;
    std::string_view find;  // in the scalar's text
    std::uint32_t line;
    std::uint32_t column;
};

const Row kRows[] = {
    {"k: abc def\n", "def", 1, 8},
    {"k: \"abc def\"\n", "def", 1, 9},
    {"k: 'abc def'\n", "def", 1, 9},
    {"k: abc\n  def\n", "def", 2, 3},
    {"k: abc\n\n\n  def\n", "def", 4, 3},
    {"k: abc   \n     def ghi\n", "ghi", 2, 10},
    {"k: abc\r\n  def\r\n", "def", 2, 3},
    {"k: \"abc\n  def\"\n", "def", 2, 3},
    {"k: |\n  abc\n  def\n", "def", 3, 3},
    {"k: |  # why\n  abc\n  def\n", "def", 3, 3},
    {"k: >-\n  abc\n  def\n", "def", 3, 3},
    {"k: >\n  abc\n\n  def\n", "def", 4, 3},
    {"k: |2-\n    abc\n  def\n", "def", 3, 3},
    {"k: \"a \\\"b\\\" def\"\n", "def", 1, 13},
    {"k: \"a\\nb def\"\n", "def", 1, 10},         // \n is no line end of the file
    {"k: \"a\\u0062c def\"\n", "def", 1, 14},     // \u0062 is one byte of the text
    {"k: \"\\u00e9\\x41 def\"\n", "def", 1, 16},  // \u00e9 is two
    {"k: \"a\\\\b def\"\n", "def", 1, 10},
    {"k: \"a \\\n   def\"\n", "def", 2, 4},  // a line end that is escaped leaves nothing
    {"k: 'it''s def'\n", "def", 1, 11},
    {"k: \xC3\xA9t\xC3\xA9 def\n", "def", 1, 10},  // columns are bytes
    {"x: [1, {k: abc def}]\n", "def", 1, 16},
};

// The scalar called `k`, wherever it stands.
const YamlNode* find_k(const YamlNode& node) {
    for (const YamlNode& item : node.items) {
        if (const YamlNode* found = find_k(item)) {
            return found;
        }
    }
    for (const YamlEntry& entry : node.entries) {
        const YamlNode* found = entry.key.text == "k" ? &entry.value : find_k(entry.value);
        if (found != nullptr) {
            return found;
        }
    }
    return nullptr;
}

TEST(ScalarPlaces, FindsBytesOfEveryStyleInTheFile) {
    for (const Row& row : kRows) {
        const LineIndex lines{row.file};
        Problems problems{"f"};
        const std::optional<YamlNode> root = read_yaml(lines, problems);
        ASSERT_TRUE(root.has_value()) << row.file;
        const YamlNode* scalar = find_k(*root);
        ASSERT_NE(scalar, nullptr) << row.file;
        const std::size_t offset = scalar->text.find(row.find);
        ASSERT_NE(offset, std::string::npos) << row.file << scalar->text;
        const Position place = ScalarPlaces{lines, *scalar}[offset];
        EXPECT_EQ(place.line, row.line) << row.file;
        EXPECT_EQ(place.column, row.column) << row.file;
    }
}

TEST(ScalarPlaces, WhatIsMissingStandsBehindTheLastByte) {
    const LineIndex lines{"k: ab\nl: \"cd\"\n"};
    Problems problems{"f"};
    const std::optional<YamlNode> root = read_yaml(lines, problems);
    ASSERT_TRUE(root.has_value());
    EXPECT_EQ(ScalarPlaces(lines, root->entries[0].value)[2].column, 6U);
    EXPECT_EQ(ScalarPlaces(lines, root->entries[1].value)[2].column, 7U);
    EXPECT_EQ(ScalarPlaces(lines, root->entries[1].value)[99].column, 7U);
}

TEST(LineIndex, TurnsPlacesIntoOffsetsAndBack) {
    const std::string_view text = "ab\n\ncd";
    const LineIndex lines{text};
    for (std::size_t offset = 0; offset <= text.size(); ++offset) {
        EXPECT_EQ(lines.offset_of(lines.place_at(offset)), offset);
    }
    EXPECT_EQ(lines.place_at(4).line, 3U);
    EXPECT_EQ(lines.place_at(99).column, 3U);
    EXPECT_EQ(lines.offset_of({9, 9}), text.size());
    EXPECT_EQ(lines.offset_of({0, 0}), text.size());
}

}  // namespace
}  // namespace sluice::scalar_places_test
