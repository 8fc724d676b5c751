#include "tests/pktgen/profile.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::pktgen::profile_test {
namespace {

TEST(Profiles, AddUpAndHaveNamesOfTheirOwn) {
    std::set<std::string_view> names;
    for (const Profile& profile : all_profiles()) {
        unsigned percent = 0;
        for (const PacketKind& kind : profile.kinds) {
            EXPECT_GT(kind.percent, 0U) << profile.name;
            EXPECT_LE(kind.sources.bits, SourceCount::kMaxBits) << profile.name;
            percent += kind.percent;
        }
        EXPECT_EQ(percent, 100U) << profile.name;
        EXPECT_FALSE(profile.help.empty());
        EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
        EXPECT_EQ(find_profile(profile.name), &profile);
    }
    EXPECT_EQ(find_profile("nonesuch"), nullptr);
}

}  // namespace
}  // namespace sluice::pktgen::profile_test
