#include "control/cli/terminal.hpp"

#include <gtest/gtest.h>

namespace sluice::terminal_test {
namespace {

TEST(FoldedWithin, GoesOnInTheNextLineBetweenWords) {
    EXPECT_EQ(folded_within("one two three\nfour\n", 8), "one two\nthree\nfour\n");
    EXPECT_EQ(folded_within("one two three\n", 0), "one two three\n");
    EXPECT_EQ(folded_within("", 8), "");
}

TEST(FoldedWithin, LeavesLinesThatFitAsTheyAre) {
    EXPECT_EQ(folded_within("A    B\n  x\n", 6), "A    B\n  x\n");
    EXPECT_EQ(folded_within("\033[1mA    B\033[0m\n", 6), "\033[1mA    B\033[0m\n");
}

TEST(FoldedWithin, BreaksNoWord) {
    EXPECT_EQ(folded_within("abcdefghij kl\n", 4), "abcdefghij\nkl\n");
}

}  // namespace
}  // namespace sluice::terminal_test
