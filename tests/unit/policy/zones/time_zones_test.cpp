#include "lib/policy/zones/time_zones.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace sluice::time_zones_test {
namespace {

TEST(TimeZones, ListEveryChangeOfAnOffset) {
    const auto berlin = read_time_zone("Europe/Berlin");
    ASSERT_TRUE(berlin.has_value());
    EXPECT_TRUE(offsets_hold(**berlin));
    EXPECT_EQ((*berlin)->at(0).ahead, 3600);
    EXPECT_EQ((*berlin)->at(1'774'745'999).ahead, 3600);  // 2026-03-29T00:59:59Z
    EXPECT_EQ((*berlin)->at(1'774'745'999).until, 1'774'746'000);
    EXPECT_EQ((*berlin)->at(1'774'746'000).ahead, 7200);
    EXPECT_EQ((*berlin)->at(4'102'444'799).ahead, 3600);  // 2099-12-31T23:59:59Z
    EXPECT_EQ((*berlin)->at(4'102'444'799).until, std::numeric_limits<std::int64_t>::max());
}

TEST(TimeZones, ThatNeverChangeHaveNone) {
    const auto utc = read_time_zone("UTC");
    ASSERT_TRUE(utc.has_value());
    EXPECT_TRUE((*utc)->changes.empty());
    EXPECT_EQ((*utc)->first, 0);
}

TEST(TimeZones, AreCalledAsInTheDatabaseAndNothingElse) {
    for (const std::string name :
         {"", "Europe", "Europe/", "Europe/Nowhere", "/etc/passwd", "../zoneinfo/UTC",
          "file:/etc/hostname", "Fixed/UTC+01:00:00", "zone.tab", "tzdata.zi", "A//B"}) {
        EXPECT_FALSE(read_time_zone(name).has_value()) << name;
    }
    EXPECT_FALSE(read_time_zone(std::string(1000, 'A')).has_value());
}

}  // namespace
}  // namespace sluice::time_zones_test
