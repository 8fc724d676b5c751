#include "lib/policy/texts/pattern_process.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sys/resource.h>

namespace sluice::pattern_process_test {
namespace {

std::vector<TextEntry> regular(const std::vector<std::string>& texts) {
    std::vector<TextEntry> patterns;
    for (const std::string& text : texts) {
        patterns.push_back({TextField::Payload, TextHow::Matches, false, text});
    }
    return patterns;
}

// Pages that children which have ended were given: one at least for each.
long pages_of_children() {
    rusage used{};
    (void)getrusage(RUSAGE_CHILDREN, &used);
    return used.ru_minflt;
}

TEST(PatternProcess, PatternsThatAreQuickAreCompiledInAChildToo) {
    for (const auto& patterns :
         {regular({"ab"}),
          std::vector<TextEntry>{{TextField::Payload, TextHow::Contains, false, "quick"}}}) {
        const long before = pages_of_children();
        const CompiledPatterns made = compile_patterns(patterns);
        EXPECT_GT(pages_of_children(), before);
        ASSERT_TRUE(std::holds_alternative<MadeDatabase>(made));
        EXPECT_FALSE(std::get<MadeDatabase>(made).bytes.empty());
        EXPECT_TRUE(std::get<MadeDatabase>(made).scan_ns.has_value());
    }
}

TEST(PatternProcess, DatabasesAreThoseOfThisProcess) {
    const std::vector<TextEntry> patterns = regular({"a[bc]+d", "e.{1,9}f", "gh"});
    const CompiledPatterns made = compile_patterns(patterns);
    const CompiledPatterns here = compile_here(patterns);
    ASSERT_TRUE(std::holds_alternative<MadeDatabase>(made));
    ASSERT_TRUE(std::holds_alternative<MadeDatabase>(here));
    EXPECT_EQ(std::get<MadeDatabase>(made).bytes, std::get<MadeDatabase>(here).bytes);
}

TEST(PatternProcess, WhicheverIsToBlameIsNamed) {
    const struct {
        std::vector<std::string> texts;
        std::string culprit;
        std::string_view said;
    } rows[] = {
        {{"x.{1,4900}y.{1,4900}z"}, "x.{1,4900}y.{1,4900}z", "takes too long"},
        {{"ab", "(a|b|ab)*c(d|e|f.){300}", "cd"}, "(a|b|ab)*c(d|e|f.){300}", "too large"},
    };
    for (const auto& row : rows) {
        const CompiledPatterns made = compile_patterns(regular(row.texts));
        const auto* refusal = std::get_if<PatternRefusal>(&made);
        ASSERT_NE(refusal, nullptr) << row.culprit;
        ASSERT_TRUE(refusal->pattern) << refusal->what;
        EXPECT_EQ(refusal->pattern->text, row.culprit);
        EXPECT_NE(refusal->what.find(row.said), std::string::npos) << refusal->what;
    }
}

}  // namespace
}  // namespace sluice::pattern_process_test
