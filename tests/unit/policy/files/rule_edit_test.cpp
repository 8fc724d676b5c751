#include "lib/policy/files/rule_edit.hpp"
#include "lib/policy/files/rule_lines.hpp"

#include <gtest/gtest.h>

#include <string>

// Single rules of a file whose other bytes stay as they are.
namespace sluice::rule_edit_test {
namespace {

const std::string kFile = R"(# of the shop
version: 1
rules:
  # The first,
  # and why.
  - id: a
    when: ip.proto eq 17   # UDP

    on_match: drop
    # (of a)

  # The second.
  -   id: b
      when: |
        ip.proto eq 6
        # no comment: it is the condition's
  - {id: c,
     on_match: drop}
  # At the end.
limits:
  unused: {algorithm: token_bucket, rate: 1/s, burst: 2}
)";

LoneRule rule_of(const std::string& text) {
    Problems problems{"one.yaml"};
    const auto rule = read_lone_rule(text, problems);
    EXPECT_TRUE(rule) << (problems.list().empty() ? "" : render(problems.list()[0], text));
    return rule.value_or(LoneRule{});
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

std::string added(const std::string& text, const std::string& rule, const RulePlace& place = {}) {
    const auto edited = add_rule(text, rule_of(rule), place);
    EXPECT_TRUE(edited) << edited.error().what;
    return edited ? edited->text : "";
}

TEST(RuleLines, AreThoseOfTheRuleAndOfWhatStandsInIt) {
    const auto lines = rule_lines(kFile);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0].id, "a");
    EXPECT_EQ(lines[0].first, 6U);
    EXPECT_EQ(lines[0].last, 10U);
    EXPECT_EQ(lines[1].first, 13U);
    EXPECT_EQ(lines[1].last, 16U);
    EXPECT_EQ(lines[2].first, 17U);
    EXPECT_EQ(lines[2].last, 18U);
}

TEST(RuleEdit, DeletesTheLinesOfOneRuleAndNoOther) {
    const auto without_a = delete_rule(kFile, "a");
    ASSERT_TRUE(without_a);
    EXPECT_EQ(*without_a, replaced(kFile,
                                   "  - id: a\n    when: ip.proto eq 17   # UDP\n\n    on_match: "
                                   "drop\n    # (of a)\n",
                                   ""));
    const auto without_c = delete_rule(kFile, "c");
    ASSERT_TRUE(without_c);
    EXPECT_EQ(*without_c, replaced(kFile, "  - {id: c,\n     on_match: drop}\n", ""));
    EXPECT_FALSE(delete_rule(kFile, "d"));
}

TEST(RuleEdit, TheLastRuleLeavesAnEmptyListAndAnotherFillsItAgain) {
    const std::string one = "version: 1\nrules: # ours\n- id: a\n  on_match: drop\n";
    const auto none = delete_rule(one, "a");
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, "version: 1\nrules: [] # ours\n");
    EXPECT_EQ(added(*none, "id: b\non_match: drop\n"),
              "version: 1\nrules: # ours\n  - id: b\n    on_match: drop\n");
    EXPECT_EQ(added("version: 1\nrules: []", "id: b\n"), "version: 1\nrules:\n  - id: b\n");
}

TEST(RuleEdit, AddsWhereItIsAskedToAndIndentsLikeTheOthers) {
    const std::string rule = "id: x\nwhen: |\n  ip.proto eq 1\n  or ip.proto eq 2\n\nkey: []\n";
    const std::string lines =
        "  - id: x\n    when: |\n      ip.proto eq 1\n      or ip.proto eq 2\n\n    key: []\n";
    EXPECT_EQ(added(kFile, rule), replaced(kFile, "  # At the end.", lines + "  # At the end."));
    EXPECT_EQ(added(kFile, rule, {RulePlace::Where::After, "b"}),
              replaced(kFile, "  - {id: c", lines + "  - {id: c"));
    // Comments right above a rule are its own.
    EXPECT_EQ(added(kFile, rule, {RulePlace::Where::Before, "a"}),
              replaced(kFile, "  # The first", lines + "  # The first"));
    EXPECT_EQ(added(kFile, rule, {RulePlace::Where::Before, "b"}),
              replaced(kFile, "  # The second", lines + "  # The second"));
    EXPECT_FALSE(add_rule(kFile, rule_of(rule), {RulePlace::Where::Before, "z"}));
}

TEST(RuleEdit, TakesARuleInAnyOfItsForms) {
    const std::string one = "version: 1\nrules:\n- id: a\n  key: []\n";
    const std::string two = one + "# Why.\n- id: b\n  key: []\n";
    for (const char* form : {"# Why.\nid: b\nkey: []\n", "---\n# Why.\nid: b\nkey: []\n...\n",
                             "# Why.\n- id: b\n  key: []\n", "   # Why.\n   - id: b\n     key: []",
                             "version: 1\nrules:\n    # Why.\n    -   id: b\n        key: []\n"}) {
        EXPECT_EQ(added(one, form), two) << form;
    }
    Problems problems{"one.yaml"};
    EXPECT_FALSE(read_lone_rule("- id: a\n- id: b\n", problems));
    EXPECT_FALSE(read_lone_rule("version: 1\nrules: []\n", problems));
    EXPECT_FALSE(read_lone_rule("version: 1\nlimits: {}\nrules:\n  - id: a\n", problems));
    const Problem& beside = problems.list().back();
    EXPECT_TRUE(beside.message.starts_with("`limits` is too much here")) << beside.message;
    EXPECT_EQ(beside.at.line, 2U);
    EXPECT_FALSE(read_lone_rule("when: ip.src eq 1.1.1.1\n", problems));
    EXPECT_FALSE(read_lone_rule("", problems));
    EXPECT_FALSE(read_lone_rule("id: [", problems));
    EXPECT_TRUE(problems.has_errors());
}

TEST(RuleEdit, ReplacesOneRuleWhereItStands) {
    const auto edited = replace_rule(kFile, rule_of("# Why.\nid: b\nkey: []\n"));
    ASSERT_TRUE(edited) << edited.error().what;
    EXPECT_EQ(
        edited->text,
        replaced(kFile,
                 "  -   id: b\n      when: |\n        ip.proto eq 6\n        # no comment: it "
                 "is the condition's\n",
                 "  # Why.\n  - id: b\n    key: []\n"));
    EXPECT_EQ(edited->first, 14U);
    EXPECT_EQ(edited->lines, 2U);
    EXPECT_EQ(edited->shift, 4);
    // Once more: the comment is there.
    const auto again = replace_rule(edited->text, rule_of("# Why.\nid: b\nkey: []\n"));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->text, edited->text);
}

TEST(RuleEdit, KeepsTheEndsOfLines) {
    const std::string file = "version: 1\r\nrules:\r\n  - id: a\r\n    key: []";
    EXPECT_EQ(added(file, "id: b\nkey: []\n"), file + "\r\n  - id: b\r\n    key: []\r\n");
    EXPECT_EQ(*delete_rule(file, "a"), "version: 1\r\nrules: []\r\n");
}

TEST(RuleEdit, LeavesTheMarksOfADocument) {
    const std::string file = "---\nversion: 1\nrules:\n  - id: a\n    key: []\n...\n# end\n";
    EXPECT_EQ(added(file, "id: b\n"), replaced(file, "...", "  - id: b\n..."));
    EXPECT_EQ(*delete_rule(file, "a"), "---\nversion: 1\nrules: []\n...\n# end\n");
}

TEST(RuleEdit, RefusesWhatItCannotChangeInPlace) {
    const auto in_brackets = add_rule("version: 1\nrules: [{id: a}]\n", rule_of("id: b"), {});
    ASSERT_FALSE(in_brackets);
    EXPECT_NE(in_brackets.error().what.find("behind a dash"), std::string::npos);
    EXPECT_FALSE(add_rule("version: 1\nrules:\n  - # none\n  - id: a\n", rule_of("id: b"), {}));
    EXPECT_FALSE(delete_rule("version: 1\n", "a"));
    EXPECT_FALSE(delete_rule("", "a"));
}

}  // namespace
}  // namespace sluice::rule_edit_test
