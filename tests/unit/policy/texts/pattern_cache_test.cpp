#include "lib/policy/texts/pattern_compiler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sluice::pattern_cache_test {
namespace {

TextParts parts_with(std::vector<std::string> patterns) {
    std::ranges::sort(patterns);
    TextParts parts;
    for (const std::string& pattern : patterns) {
        parts.entries.push_back({TextField::Payload, TextHow::Matches, false, pattern});
    }
    return parts;
}

// How many patterns of these a cache had to compile.
std::size_t compiled_of(PatternCache& cache, const std::vector<std::string>& patterns) {
    const std::size_t before = cache.compiled();
    TextParts parts = parts_with(patterns);
    ScanCosts costs;
    EXPECT_FALSE(cache.compile(parts, costs));
    EXPECT_FALSE(parts.databases.empty());
    return cache.compiled() - before;
}

TEST(PatternCache, DraftsUseWhatTheSetInForceHasAndReplaceNothingOfIt) {
    PatternCache cache;
    const std::vector<std::string> in_force{"ab+c", "de+f"};
    EXPECT_EQ(compiled_of(cache, in_force), 2U);
    PatternCache drafts{cache};
    EXPECT_EQ(compiled_of(drafts, in_force), 0U) << "made already";
    EXPECT_EQ(compiled_of(drafts, {"ab+c", "de+f", "gh+i"}), 1U) << "beside the other's base";
    EXPECT_EQ(compiled_of(drafts, {"ab+c", "de+f", "gh+i"}), 0U);
    EXPECT_EQ(compiled_of(drafts, {"jk+l", "mn+o", "pq+r"}), 3U) << "nothing in common";
    EXPECT_EQ(compiled_of(drafts, {"jk+l", "mn+o", "pq+r"}), 0U);
    EXPECT_EQ(compiled_of(drafts, in_force), 0U);
    EXPECT_EQ(compiled_of(cache, in_force), 0U) << "the drafts took nothing away";
    EXPECT_EQ(cache.compiled(), 2U);
}

}  // namespace
}  // namespace sluice::pattern_cache_test
