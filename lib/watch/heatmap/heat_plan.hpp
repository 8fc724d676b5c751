#pragma once
#include "lib/watch/heatmap/heat_sample.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

// The limits whose keys all workers watch from one turn of the epoch to the next.
struct HeatPlan {
    static constexpr std::size_t kMostLimits = 256;
    // Every key, until more have come than there is room for.
    static constexpr std::uint8_t kFirstBits = 0;
    static constexpr std::uint8_t kMostBits = 30;

    struct Limit {
        std::string rule;         // id
        std::uint32_t index = 0;  // in MeterPlan::limits
        std::uint8_t limit = 0;   // index in the rule
        std::uint64_t identity = 0;
        std::uint8_t bits = kFirstBits;  // that are zero in the digests of watched keys
        std::uint8_t name_bits = 0;      // and in the lower bits of those that bring their names
    };
    std::uint64_t load = 0;  // of the rule set; 0: nothing is watched
    std::uint64_t generation = 0;
    std::vector<Limit> limits;  // by place

    [[nodiscard]] bool empty() const noexcept { return limits.empty(); }
};

// The share of each limit in so many places. Of the records of a table a half is given out, so that
// a key is found near its home.
[[nodiscard]] constexpr std::uint32_t heat_share(std::size_t all, std::size_t limits) noexcept {
    return static_cast<std::uint32_t>(all / std::max<std::size_t>(limits, 1));
}

// The bits of the next epoch, after `used` keys were watched by `bits` at the fullest worker: as
// many as its quota has room for, between a half and a quarter of which is left alone. Falls
// slowly, since a crowd may come back.
[[nodiscard]] constexpr std::uint8_t next_heat_bits(std::uint8_t bits, std::uint32_t used,
                                                    std::uint32_t quota) noexcept {
    constexpr unsigned kMostFall = 4;
    const std::uint32_t room = std::max(quota, 1U);
    const std::uint32_t keys = std::max(used, 1U);
    if (keys > room) {
        const auto rise = static_cast<unsigned>(std::bit_width((keys - 1) / room));
        return static_cast<std::uint8_t>(std::min<unsigned>(bits + rise, HeatPlan::kMostBits));
    }
    if (keys > room / 4) {
        return bits;
    }
    const auto fall = static_cast<unsigned>(std::bit_width(room / keys / 2)) - 1;
    return static_cast<std::uint8_t>(bits - std::min({fall, kMostFall, unsigned{bits}}));
}
// The bits by which so many of `used` keys bring their names.
[[nodiscard]] constexpr std::uint8_t heat_name_bits(std::uint32_t used,
                                                    std::uint32_t names) noexcept {
    return used <= names ? std::uint8_t{0}
                         : static_cast<std::uint8_t>(std::bit_width((used - 1) / names));
}

}  // namespace sluice
