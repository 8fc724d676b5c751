#include "dataplane/xdp/early_drops.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::early_drops_test {
namespace {

TEST(EarlyDrops, EndsAreToldOnTheClockOfTheKernel) {
    using namespace std::chrono_literals;
    LoadedSet rules;
    rules.rules.resize(2);
    rules.rules[1].counters = 77;
    const IpPrefix v4 = *parse_prefix("10.1.0.0/16");
    const IpPrefix v6 = *parse_prefix("2001:db8::/32");
    const ClockPair now{.utc = 1000s, .monotonic = 5'000};
    const std::vector<EarlyDrop> drops = early_drops_of(
        {{{v4, 1, kForever}, {v6, 1, 1000s + 3ns}, {v4, 1, 1000s}, {v4, 1, 0s}}, 0}, rules, now);
    ASSERT_EQ(drops.size(), 2U) << "what has ended is left out";
    EXPECT_EQ(drops[0].drop.until, 0U);
    EXPECT_EQ(drops[0].drop.row, 77U);
    EXPECT_EQ(drops[0].network.length, 48U);
    EXPECT_EQ(drops[0].network.from.version, 4U);
    EXPECT_EQ(drops[0].network.from.bytes[1], 1U);
    EXPECT_EQ(drops[1].drop.until, 5'003U);
    EXPECT_EQ(drops[1].network.length, 64U);
    EXPECT_EQ(now.lead(), 1000s - 5'000ns);
}

}  // namespace
}  // namespace sluice::early_drops_test
