#include "lib/policy/texts/pattern_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sluice::pattern_sample_test {
namespace {

using Texts = std::vector<std::string>;

bool one_has(const Texts& texts, const std::string& part) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
        return text.find(part) != std::string::npos;
    });
}

TEST(PatternSample, IsWhatTheExpressionMatches) {
    const struct {
        std::string_view regex;
        std::string_view sample;
    } rows[] = {
        {"", ""},
        {"abc", "abc"},
        {"a{3}b", "aaab"},
        {"a{2,4}b", "aaaab"},
        {"a{3,}b", "aaab"},
        {"(ab|cd)e", "abe"},
        {"(?:ab){2}", "abab"},
        {"(?i)ab", "ab"},
        {"(a|b){1,5}x", "aaaaax"},
        {"a.b", "aab"},
        {"[x-z]{3}", "xxx"},
        {"[^a-f]b", "xb"},
        {"[\\d]b", "7b"},
        {"\\d\\s\\w\\.", "7 a."},
        {"\\x41\\x{42}", "AB"},
        {"\\Qa.b\\E", "a.b"},
        {"^ab$", "ab"},
        {"ab?c", "abc"},
        {"a*b", "aaaaaaaab"},
        {"a+b", "aaaaaaaab"},
        {"[[:digit:]]x", "7x"},
        {"a{x}", "a{x}"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(sample_of(row.regex, Repeats::Most, 1000), row.sample) << row.regex;
    }
}

TEST(PatternSample, MayRepeatAsLittleAsItCan) {
    EXPECT_EQ(sample_of("a{2,4}b+c*(de){1,9}f{3,}", Repeats::Least, 1000), "aabcdefff");
}

TEST(PatternSample, EndsWhateverTheExpressionIs) {
    for (const std::string_view regex : {"\\",
                                         "[",
                                         "[^",
                                         "[[:",
                                         "(",
                                         "(?",
                                         ")",
                                         "{",
                                         "{}",
                                         "a{",
                                         "a{9999999999}",
                                         "*",
                                         "\\x",
                                         "\\x{",
                                         "\\Q",
                                         "[\\",
                                         "a{,}",
                                         "((((a{999}){999}){999}){999})",
                                         "[]",
                                         "[^]"}) {
        EXPECT_LE(sample_of(regex, Repeats::Most, 100).size(), 200U) << regex;
        EXPECT_LE(sample_of(regex, Repeats::Least, 100).size(), 200U) << regex;
    }
}

TEST(HardTexts, HaveEachPatternAndOnesThatAreNearlyIt) {
    const std::vector<TextEntry> patterns{
        {TextField::Payload, TextHow::Contains, false, "needle"},
        {TextField::Payload, TextHow::Matches, false, "user=[a-z]{4}&(x|y){3}!"},
    };
    const Texts texts = hard_texts(patterns, 1400);
    EXPECT_TRUE(std::all_of(texts.begin(), texts.end(),
                            [](const std::string& text) { return text.size() == 1400; }));
    EXPECT_TRUE(one_has(texts, "needleneedleneedle"));
    EXPECT_TRUE(one_has(texts, "user=aaaa&xxx!user=aaaa&xxx!"));
    EXPECT_TRUE(one_has(texts, "needlneedlneedl"));
    EXPECT_TRUE(one_has(texts, "user=aaaa&xxxuser=aaaa&xxxuser"));
    for (const char byte : std::string{"neuxa&"}) {
        EXPECT_TRUE(one_has(texts, std::string(1400, byte))) << byte;
    }
}

// However many there are: those that are largest once written out get texts of their own.
TEST(HardTexts, AreFew) {
    std::vector<TextEntry> patterns(
        5000, {TextField::Payload, TextHow::Contains, false, "one of very many"});
    patterns.push_back({TextField::Payload, TextHow::Matches, false, "large=[0-9]{300}"});
    const Texts texts = hard_texts(patterns, 1400);
    EXPECT_LE(texts.size(), 80U);
    EXPECT_TRUE(one_has(texts, "large=" + std::string(300, '0')));
    EXPECT_FALSE(hard_texts({}, 253).empty());
}

}  // namespace
}  // namespace sluice::pattern_sample_test
