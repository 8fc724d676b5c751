#include "dataplane/rss.hpp"

#include <gtest/gtest.h>

#include <rte_ethdev.h>

#include <set>
#include <vector>

namespace sluice::rss_test {
namespace {

TEST(RssKey, IsNeverTheSameNorDegenerate) {
    std::set<std::vector<std::uint8_t>> seen;
    for (int i = 0; i < 100; ++i) {
        std::vector<std::uint8_t> key(40);
        make_rss_key(Rss::Source, key);
        EXPECT_FALSE(is_degenerate(key));
        EXPECT_TRUE(seen.insert(key).second);
    }
}

TEST(RssKey, SymmetricOnesRepeatSixteenBits) {
    std::vector<std::uint8_t> key(40);
    make_rss_key(Rss::Symmetric, key);
    for (std::size_t i = 2; i < key.size(); ++i) {
        EXPECT_EQ(key[i], key[i - 2]);
    }
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
