#include "dataplane/rss.hpp"

#include <gtest/gtest.h>

#include <rte_ethdev.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace sluice::rss_test {
namespace {

std::vector<std::uint8_t> random_bytes(int seed) {
    std::mt19937 random{static_cast<unsigned>(seed)};
    std::vector<std::uint8_t> bytes(128);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
}

TEST(RssKey, IsNeverTheSameNorDegenerate) {
    std::set<std::vector<std::uint8_t>> seen;
    for (int i = 0; i < 100; ++i) {
        std::vector<std::uint8_t> key(40);
        const std::vector<std::uint8_t> secret = random_bytes(i);
        make_rss_key(Rss::Source, secret, key);
        EXPECT_FALSE(is_degenerate(key));
        EXPECT_TRUE(seen.insert(key).second);
        std::vector<std::uint8_t> again(40);
        make_rss_key(Rss::Source, secret, again);
        EXPECT_EQ(key, again);
    }
}

TEST(RssKey, PassesOverBytesThatWouldBunch) {
    std::vector<std::uint8_t> secret = random_bytes(1);
    std::fill_n(secret.begin(), 42, std::uint8_t{0});
    for (const Rss how : {Rss::Source, Rss::Symmetric}) {
        std::vector<std::uint8_t> key(40);
        make_rss_key(how, secret, key);
        EXPECT_FALSE(is_degenerate(key));
    }
}

TEST(RssKey, SymmetricOnesRepeatSixteenBits) {
    std::vector<std::uint8_t> key(40);
    make_rss_key(Rss::Symmetric, random_bytes(7), key);
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
