#include "dataplane/port/rss.hpp"

#include <bit>

#include <rte_ethdev.h>

namespace sluice {
namespace {

constexpr std::uint64_t kL3 = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 |
                              RTE_ETH_RSS_NONFRAG_IPV4_OTHER | RTE_ETH_RSS_IPV6 |
                              RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER;
constexpr std::uint64_t kL4 = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                              RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;

}  // namespace

bool is_degenerate(std::span<const std::uint8_t> key) noexcept {
    std::size_t ones = 0;
    for (const std::uint8_t byte : key) {
        ones += static_cast<std::size_t>(std::popcount(byte));
    }
    const std::size_t bits = key.size() * 8;
    return ones < bits / 4 || ones > bits - bits / 4;
}

std::uint64_t rss_functions(Rss how, std::uint64_t offered) noexcept {
    const std::uint64_t wanted = kL3 & offered;
    if (wanted == 0) {
        return 0;
    }
    switch (how) {
        case Rss::Source:
        case Rss::SourcePrefix:
            return (offered & RTE_ETH_RSS_L3_SRC_ONLY) == 0 ? 0 : wanted | RTE_ETH_RSS_L3_SRC_ONLY;
        case Rss::Destination:
            return (offered & RTE_ETH_RSS_L3_DST_ONLY) == 0 ? 0 : wanted | RTE_ETH_RSS_L3_DST_ONLY;
        case Rss::FiveTuple:
            return wanted | (kL4 & offered);
        default:
            return wanted;
    }
}

}  // namespace sluice
