#include "control/simulation/simulate_line.hpp"

#include <gtest/gtest.h>

namespace sluice::simulate_line_test {
namespace {

LoneLimit read_one(const std::string& text) {
    const LoneLimits read = read_lone_limits("- " + text, 1);
    EXPECT_TRUE(read.limits.has_value()) << text;
    return read.limits->front();
}

TEST(SimulateLine, HasTheWordsOfTheLimitAndOfItsLoad) {
    RunWords words;
    words.load = "constant";
    words.offer = "20/s";
    words.duration = "4s";
    EXPECT_EQ(simulate_line(read_one("{algorithm: token_bucket, rate: 10/s, burst: 5}"), words),
              "sluicectl simulate --algorithm token_bucket --rate 10/s --burst 5 --load constant "
              "--offer 20/s --cost 1 --duration 4s");
    words.load = "hits";
    words.hits = {"0s", "120ms"};
    words.start = "2026-03-28T12:00:00Z";
    words.stalls = {"1s:1s", "3s:1s"};
    EXPECT_EQ(simulate_line(read_one("{algorithm: fixed_window, count: 3, window: 1d, utc_offset: "
                                     "\"+03:00\", per: request}"),
                            words),
              "sluicectl simulate --algorithm fixed_window --count 3 --window 1d --utc-offset "
              "+03:00 --load hits --hits 0s,120ms --cost 1 --stall 1s:1s --stall 3s:1s --duration "
              "4s --start 2026-03-28T12:00:00Z");
}

// Nothing that somebody has written is more than a word to a shell.
TEST(SimulateLine, QuotesForAShell) {
    RunWords words;
    words.load = "constant";
    words.offer = "1/s; rm -rf '$HOME'";
    const std::string line =
        simulate_line(read_one("{algorithm: sliding_log, count: 1, window: 1s}"), words);
    EXPECT_NE(line.find("--offer '1/s; rm -rf '\\''$HOME'\\'''"), std::string::npos) << line;
}

TEST(SimulateLine, TheLimitIsAnItemOfARule) {
    const std::string text =
        "{algorithm: fixed_window, count: 3, window: 1d, utc_offset: \"+03:00\", per: packet}";
    const LoneLimit limit = read_one(text);
    EXPECT_EQ(limit_yaml(limit), text);
    EXPECT_EQ(read_one(limit_yaml(limit)).numbers, limit.numbers);
}

}  // namespace
}  // namespace sluice::simulate_line_test
