#include "control/cli/human_units.hpp"

#include <gtest/gtest.h>

namespace sluice::human_units_test {
namespace {

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
