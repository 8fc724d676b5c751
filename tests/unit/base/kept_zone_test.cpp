#include "lib/base/kept_zone.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice::kept_zone_test {
namespace {

TEST(KeptZone, EqualOnesAreKeptOnce) {
    const ZoneOffsets one{.name = "Zone/One", .first = 3600, .changes = {{10, 0}}};
    const KeptZone kept = KeptZone::keep(one);
    ASSERT_TRUE(kept);
    EXPECT_EQ(*kept, one);
    EXPECT_EQ(KeptZone::keep(one), kept);
    ZoneOffsets other = one;
    other.changes.push_back({20, 3600});
    const KeptZone of_other = KeptZone::keep(std::move(other));
    ASSERT_TRUE(of_other);
    EXPECT_NE(of_other, kept);
    EXPECT_EQ(*kept, one);
    EXPECT_FALSE(KeptZone{});
}

}  // namespace
}  // namespace sluice::kept_zone_test
