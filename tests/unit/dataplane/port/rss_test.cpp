#include "dataplane/port/rss.hpp"

#include "dataplane/port/rss_keys.hpp"

#include <gtest/gtest.h>

#include <rte_ethdev.h>

#include <set>
#include <vector>

namespace sluice::rss_test {
namespace {

std::vector<std::uint8_t> bytes(std::span<const std::uint8_t> key) {
    return {key.begin(), key.end()};
}

TEST(RssKeys, AreNeverTheSameNorDegenerate) {
    std::set<std::vector<std::uint8_t>> seen;
    for (int i = 0; i < 100; ++i) {
        const RssKeys keys = RssKeys::make();
        EXPECT_FALSE(is_degenerate(keys.of(Rss::Source)));
        EXPECT_FALSE(is_degenerate(keys.of(Rss::Symmetric)));
        EXPECT_TRUE(seen.insert(bytes(keys.of(Rss::Source))).second);
    }
}

TEST(RssKeys, TheSymmetricOneRepeatsSixteenBits) {
    const RssKeys keys = RssKeys::make();
    const auto key = keys.of(Rss::Symmetric);
    for (std::size_t i = 2; i < key.size(); ++i) {
        EXPECT_EQ(key[i], key[i - 2]);
    }
    EXPECT_NE(key[0], key[1]) << "eight bits that repeat leave a hash 256 values";
}

TEST(RssKeys, DegenerateOnesAreRefused) {
    RssKeys::Seed good = RssKeys::make().seed();
    EXPECT_TRUE(RssKeys::from(good));
    RssKeys::Seed empty_part = good;
    std::fill_n(empty_part.begin(), 8, std::uint8_t{1});
    EXPECT_FALSE(RssKeys::from(empty_part)) << "all that an IPv4 source meets";
    RssKeys::Seed same = good;
    same[kMaxRssKey] = same[kMaxRssKey + 1] = 0x5A;
    EXPECT_FALSE(RssKeys::from(same));
    RssKeys::Seed ones{};
    ones.fill(0xFF);
    EXPECT_FALSE(RssKeys::from(ones));
}

TEST(RssKey, AllZeroesAndAllOnesAreDegenerate) {
    EXPECT_TRUE(is_degenerate(std::vector<std::uint8_t>(40, 0x00)));
    EXPECT_TRUE(is_degenerate(std::vector<std::uint8_t>(40, 0xFF)));
    EXPECT_TRUE(is_degenerate(std::vector<std::uint8_t>(40, 0x01)));
    EXPECT_FALSE(is_degenerate(std::vector<std::uint8_t>(40, 0x5A)));
}

TEST(RssFunctions, AsksForNothingThePortLacks) {
    const std::uint64_t l3 = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;
    EXPECT_EQ(rss_functions(Rss::Source, 0), 0U);
    EXPECT_EQ(rss_functions(Rss::Source, l3), 0U);  // it cannot hash the source alone
    EXPECT_EQ(rss_functions(Rss::Source, l3 | RTE_ETH_RSS_L3_SRC_ONLY),
              l3 | RTE_ETH_RSS_L3_SRC_ONLY);
    EXPECT_EQ(rss_functions(Rss::Destination, l3 | RTE_ETH_RSS_L3_DST_ONLY),
              l3 | RTE_ETH_RSS_L3_DST_ONLY);
    EXPECT_EQ(rss_functions(Rss::Symmetric, l3 | RTE_ETH_RSS_NONFRAG_IPV4_TCP), l3);
    EXPECT_EQ(rss_functions(Rss::FiveTuple, l3 | RTE_ETH_RSS_NONFRAG_IPV4_TCP),
              l3 | RTE_ETH_RSS_NONFRAG_IPV4_TCP);
}

}  // namespace
}  // namespace sluice::rss_test
