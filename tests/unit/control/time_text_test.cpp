#include "control/time_text.hpp"

#include <gtest/gtest.h>

namespace sluice::time_text_test {
namespace {

TEST(DurationText, HasTheTwoUnitsThatMatter) {
    EXPECT_EQ(duration_text(0), "0s");
    EXPECT_EQ(duration_text(59), "59s");
    EXPECT_EQ(duration_text(60), "1m");
    EXPECT_EQ(duration_text(5'676), "94m36s");
    EXPECT_EQ(duration_text(5'405), "90m05s");
    EXPECT_EQ(duration_text(6'000), "1h40m");
    EXPECT_EQ(duration_text(100 * 3'600 - 1), "99h59m");
    EXPECT_EQ(duration_text(12 * 86'400 + 3 * 3'600 + 59), "12d03h");
}

TEST(TimeText, HasThreeDigitsBelowAMinute) {
    EXPECT_EQ(time_text(0), "0 ns");
    EXPECT_EQ(time_text(999), "999 ns");
    EXPECT_EQ(time_text(350'000), "350 us");
    EXPECT_EQ(time_text(99'900'001), "99.9 ms");
    EXPECT_EQ(time_text(100'000'000), "100 ms");
    EXPECT_EQ(time_text(999'999'999), "1 s");
    EXPECT_EQ(time_text(29'999'999'999), "30 s");
    EXPECT_EQ(time_text(86'040'000'000'000), "23h54m");
}

}  // namespace
}  // namespace sluice::time_text_test
