#include "control/cli/help_text.hpp"

#include <gtest/gtest.h>

namespace sluice::help_text_test {
namespace {

TEST(FoldedHelp, LeavesWhatFits) {
    const std::string help =
        "Usage: sluicectl\n\n  --json                      JSON\n" + std::string(80, 'x') + "\n";
    EXPECT_EQ(folded_help(help), help);
    EXPECT_EQ(folded_help("no end"), "no end");
}

TEST(FoldedHelp, GoesOnBelowTheExplanation) {
    EXPECT_EQ(
        folded_help("  --url TEXT (Env:SLUICE_URL) where sluiced listens by TCP, in the place of "
                    "the socket\n  -x\n"),
        "  --url TEXT (Env:SLUICE_URL) where sluiced listens by TCP, in the place of the\n" +
            std::string(30, ' ') + "socket\n  -x\n");
    EXPECT_EQ(
        folded_help("Exit codes: 0 done, 1 refused or invalid, 2 wrong usage, 3 no daemon or no "
                    "dataplane"),
        "Exit codes: 0 done, 1 refused or invalid, 2 wrong usage, 3 no daemon or no\n"
        "dataplane");
}

TEST(FoldedHelp, OneLongWordStays) {
    const std::string word(100, 'x');
    EXPECT_EQ(folded_help(word + " y\n"), word + "\ny\n");
}

}  // namespace
}  // namespace sluice::help_text_test
