#include "lib/policy/files/rule_slice.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice::rule_slice_test {
namespace {

constexpr const char* kFile = R"(version: 1
rules:
  # the first
  - id: a
    when: ip.proto eq 17
    key: [ip.src]
  - {id: b, key: []}
  -   id: c
      description: >
        two
          lines
limits:
  x: 1
)";

std::string text_of(const std::string& id, const char* file = kFile) {
    Problems problems{"f"};
    const std::optional<RuleSlice> slice = rule_slice(file, id, problems);
    return slice ? slice->text : "-";
}

TEST(RuleSlice, IsTheRuleWithoutItsIndentation) {
    EXPECT_EQ(text_of("a"), "id: a\nwhen: ip.proto eq 17\nkey: [ip.src]\n");
    EXPECT_EQ(text_of("b"), "{id: b, key: []}\n");
    EXPECT_EQ(text_of("c"), "id: c\ndescription: >\n  two\n    lines\n");
    EXPECT_EQ(text_of("d"), "-");
    EXPECT_EQ(text_of("a", "- id: a\n"), "-");
    EXPECT_EQ(text_of("a", "rules: 3\n"), "-");
}

TEST(RuleSlice, KnowsWhereItStands) {
    Problems problems{"f"};
    const std::optional<RuleSlice> slice = rule_slice(kFile, "a", problems);
    ASSERT_TRUE(slice);
    const Position first = slice->in_file({1, 1});
    const Position later = slice->in_file({3, 6});
    EXPECT_EQ((std::pair{first.line, first.column}), (std::pair{4U, 5U}));
    EXPECT_EQ((std::pair{later.line, later.column}), (std::pair{6U, 10U}));
}

}  // namespace
}  // namespace sluice::rule_slice_test
