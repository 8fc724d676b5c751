#include "lib/policy/yaml/yaml_tree.hpp"

#include "lib/policy/yaml/text_check.hpp"

#include <gtest/gtest.h>

namespace sluice::yaml_tree_test {
namespace {

struct Refusal {
    std::string text;
    Position at;
    std::string_view says;
};

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

const Refusal kRefusals[] = {
    {"a: 1\na: 2\n", {2, 1}, "`a` is given twice"},
    {"a: 1\n\"a\": 2\n", {2, 1}, "given twice"},
    {"a: {b: 1, b: 2}\n", {1, 11}, "given twice"},
    {"a: &x 1\n", {1, 4}, "anchors"},
    {"a: *x\n", {1, 4}, ""},
    {"a: !!int 1\n", {1, 4}, "tags"},
    {"a: !x 1\n", {1, 4}, "tags"},
    {"a: ! 1\n", {1, 4}, "tags"},
    {"a: ! [1]\n", {1, 4}, "tags"},
    {"<<: {a: 1}\n", {1, 1}, "merge keys"},
    {"a: 1\n---\nb: 1\n", {2, 1}, "one document"},
    {"a: 1\n...\n---\nb: 1\n", {3, 1}, "one document"},
    {"? [a, b]\n: 1\n", {1, 3}, "a key must be a word"},
    {"{{a: 1}: 2}\n", {1, 2}, "a key must be a word"},
    {"~: 1\n", {1, 1}, "a key must be a word"},
    {"a: [1, 2\n", {2, 1}, ""},
    {"rules:\n  - id: a\n   mode: b\n", {3, 4}, "this line is indented like no line before it"},
    {"rules:\n  - id: a\n mode: b\n", {3, 2}, "this line is indented like no line before it"},
    {"- {id: r, when: l4.dport in {80 443}}\n", {1, 29}, "stands in quotes, such as when: '"},
    {"a: [x {1 2}, b]\n", {1, 7}, "stands in quotes"},
    {"a:\n  b: 1\n   c: 2\n", {3, 5}, "indented deeper than the keys beside it"},
    {"a: \"x\n", {1, 4}, "no closing quote"},
    {"a: \"x\\\"\n", {1, 4}, "no closing quote"},
    {"a: 1\nb: 'x''\nc: 1\n", {2, 4}, "no closing quote"},
    {"\"a", {1, 3}, "EOF"},
    {"a: b: c\n", {1, 5}, ""},
    {"a: 1\n  b: 2\n", {2, 4}, ""},
    {nested(kMaxYamlDepth + 1), {1, kMaxYamlDepth + 1}, "too deep"},
    {"a: " + std::string(kMaxOpenedInLine + 1, '{'), {1, kMaxOpenedInLine + 4}, "too deep"},
    {"a: 1\n#" + std::string(kMaxLineSize, 'x') + "\n", {2, 1}, "longer than 4 MiB"},
    // RFC 3629: torn, overlong, surrogates, past the last character.
    {"a: \xC3", {1, 4}, "UTF-8"},
    {"a: \xC3(", {1, 4}, "UTF-8"},
    {"a: \x80", {1, 4}, "UTF-8"},
    {"a: \xC0\xAF", {1, 4}, "UTF-8"},
    {"a: \xE0\x80\xAF", {1, 4}, "UTF-8"},
    {"a: \xED\xA0\x80", {1, 4}, "UTF-8"},
    {"a: \xF0\x80\x80\xAF", {1, 4}, "UTF-8"},
    {"a: \xF4\x90\x80\x80", {1, 4}, "UTF-8"},
    {"a: \xF8\x88\x80\x80\x80", {1, 4}, "UTF-8"},
    {std::string("a: \0", 4), {1, 4}, "control"},
    {"a: \x1B[2J", {1, 4}, "control"},
    {"a: \x7F", {1, 4}, "control"},
    {"a: \xC2\x9B", {1, 4}, "control"},
    {"b: 1\na: \"\\e[2J\"\n", {2, 4}, "control"},
    {"a: \"\\0\"\n", {1, 4}, "control"},
    {"a: \"\\x9b\"\n", {1, 4}, "control"},
    {"a:\n\tb: 1\n", {2, 1}, "indent with spaces"},
    {"a:\n  b: 1\n\tc: 2\n", {3, 1}, "indent with spaces"},
};

TEST(ReadYaml, RefusesWhatWeDoNotUseAtItsPlace) {
    for (const Refusal& row : kRefusals) {
        Problems problems{"f"};
        (void)read_yaml(LineIndex{row.text}, problems);
        const std::string shown = row.text.substr(0, 60);
        ASSERT_EQ(problems.list().size(), 1U) << shown;
        const Problem& problem = problems.list().front();
        EXPECT_EQ(problem.severity, Severity::Error);
        EXPECT_EQ(problem.at.line, row.at.line) << shown << problem.message;
        EXPECT_EQ(problem.at.column, row.at.column) << shown << problem.message;
        EXPECT_NE(problem.message.find(row.says), std::string::npos) << problem.message;
    }
}

TEST(ReadYaml, KeepsTextAsWritten) {
    const std::string_view text =
        "a: NO\nb: 010\nc: \"5\"\nd: 'x'\ne:\nf: |\n  g\nh: \xF0\x9F\x98\x80\n";
    Problems problems{"f"};
    const std::optional<YamlNode> root = read_yaml(LineIndex{text}, problems);
    ASSERT_TRUE(root.has_value());
    EXPECT_TRUE(problems.list().empty());
    struct Want {
        std::string_view text;
        bool plain;
    };
    const Want want[] = {{"NO", true},
                         {"010", true},
                         {"5", false},
                         {"x", false},
                         {"", false},
                         {"g\n", false},
                         {"\xF0\x9F\x98\x80", true}};
    ASSERT_EQ(root->entries.size(), std::size(want));
    for (std::size_t i = 0; i < std::size(want); ++i) {
        EXPECT_EQ(root->entries[i].value.text, want[i].text);
        EXPECT_EQ(root->entries[i].value.plain, want[i].plain) << want[i].text;
    }
    EXPECT_EQ(root->entries[4].value.kind, YamlNode::Kind::Null);
    EXPECT_EQ(root->entries[4].value.at.line, 5U);  // nothing stands where its key stands
}

}  // namespace
}  // namespace sluice::yaml_tree_test
