#include "control/cli/human_units.hpp"

#include <gtest/gtest.h>

namespace sluice::human_units_test {
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

TEST(BitRateText, HasThreeDigitsAndAUnitOfAThousand) {
    EXPECT_EQ(bit_rate_text(0), "0 bit/s");
    EXPECT_EQ(bit_rate_text(999), "999 bit/s");
    EXPECT_EQ(bit_rate_text(1'000), "1.00 kbit/s");
    EXPECT_EQ(bit_rate_text(1'234'567), "1.23 Mbit/s");
    EXPECT_EQ(bit_rate_text(99'960'000), "100 Mbit/s");
    EXPECT_EQ(bit_rate_text(999'600), "1.00 Mbit/s");
    EXPECT_EQ(bit_rate_text(40e9), "40.0 Gbit/s");
}

TEST(ByteCountText, IsWholeBelowAThousand) {
    EXPECT_EQ(byte_count_text(0), "0 B");
    EXPECT_EQ(byte_count_text(64), "64 B");
    EXPECT_EQ(byte_count_text(1'500), "1.50 kB");
    EXPECT_EQ(byte_count_text(UINT64_MAX), "18.4 EB");
}

TEST(HumanUnits, NounsAreInTheSingularOfOne) {
    EXPECT_EQ(counted(1, "frame"), "1 frame");
    EXPECT_EQ(counted(0, "frame"), "0 frames");
    EXPECT_EQ(counted(1'200, "frame"), "1,200 frames");
}

}  // namespace
}  // namespace sluice::human_units_test
