#include "lib/policy/texts/pattern_cost.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::pattern_cost_test {
namespace {

TEST(PatternCost, CountsWhatRepeatsWriteOut) {
    const struct {
        std::string_view regex;
        std::uint64_t places;
    } rows[] = {
        {"", 0},
        {"abc", 3},
        {"a{3}", 3},
        {"a{3,}", 3},
        {"a{3,7}b", 8},
        {"a{0}", 1},
        {"a{0,9}", 9},
        {"(abc){5}", 15},
        {"((ab){3}c){10}", 70},
        {"a*b+c?", 3},
        {"ab|cd", 4},
        {"(a|b){4}", 8},
        {"[a-z]{8}", 8},
        {"[]a]{8}", 8},
        {"[^]a]{8}", 8},
        {"[a\\]{9}]{8}", 8},
        {"[[:alpha:]{9}]{8}", 8},
        {"\\x41{3}", 5},  // \x, 4 and 1 for it; never less than there is
        {"\\x{41}{3}", 3},
        {"\\p{Lu}{3}", 3},
        {"\\d{3}\\.", 4},
        {"\\{9}", 3},
        {"\\Qa{9}\\E{2}", 5},
        {"\\Qa{9}", 4},
        {"a{x}", 4},
        {"a{,3}", 5},
        {"a{", 2},
        {"{9}", 0},
        {"(a{5}", 5},
        {"a){5}", 5},
        {"a{2}{3}", 6},
        {"\\", 1},
        {"[", 1},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(cost_of(row.regex).places, row.places) << row.regex;
    }
}

TEST(PatternCost, StaysBoundedAndNamesTheRepeat) {
    EXPECT_EQ(cost_of(".{1,32000}x").beyond_at, 1U);
    EXPECT_EQ(cost_of("x{9000}y{2000}").beyond_at, 8U);
    EXPECT_EQ(cost_of("x{9000}").beyond_at, 0U);
    std::string deep = "x";
    for (int i = 0; i < 100; ++i) {
        deep = "(" + deep + "){4294967295}";
    }
    EXPECT_GT(cost_of(deep).places, kMostPlaces);
    EXPECT_GT(cost_of("x{99999999999999999999}").places, kMostPlaces);
}

TEST(PatternCost, TellsQuickOnesFromOthers) {
    EXPECT_TRUE(is_quick_to_read(cost_of("x.{1,400}y")));
    EXPECT_FALSE(is_quick_to_read(cost_of("x.{1,4000}y")));
}

}  // namespace
}  // namespace sluice::pattern_cost_test
