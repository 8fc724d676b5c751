#pragma once
#include <cstdint>
#include <map>
#include <numeric>

namespace sluice {

// LINKTYPE_ETHERNET, the one that is judged.
inline constexpr std::uint16_t kEthernetLink = 1;

// Frames of a capture that are not Ethernet's, by the link type (LINKTYPE_) they came on.
struct LeftOut {
    std::map<std::uint16_t, std::uint64_t> by_link_type;

    [[nodiscard]] std::uint64_t total() const noexcept {
        return std::accumulate(
            by_link_type.begin(), by_link_type.end(), std::uint64_t{0},
            [](std::uint64_t sum, const auto& counted) { return sum + counted.second; });
    }
};

}  // namespace sluice
