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

// Standard output is no terminal here: not even what bold() writes is the program's own.
TEST(ShownText, NothingThatOthersGaveActsOnATerminal) {
    EXPECT_EQ(shown_text("a\033[2J\033[1mb\033[0m\u009B\u202E\r\n\tc"),
              "a\\u001b[2J\\u001b[1mb\\u001b[0m\\u009b\\u202e\\r\n\tc");
    EXPECT_EQ(shown_text("plain\n"), "plain\n");
    EXPECT_EQ(shown_text(""), "");
}

}  // namespace
}  // namespace sluice::terminal_test
