#pragma once
#include "lib/match/address_table.hpp"
#include "lib/rules/override_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// True if each range has a plan that bans nobody, they are in their order, of any two that overlap
// one holds the other, and no more lie in one another than kMaxNestedRanges.
[[nodiscard]] bool are_sound_ranges(std::span<const OverrideRange> ranges, const Overrides& all);

// Networks and ranges of a key of one address that have terms of their own. The smallest that a key
// lies in is one look-up of its address, however many there are; from it the others follow, which
// hold it.
//
//   address --> step --> level: a plan, and the size of its range
//                          `--> the level of the range around it --> ...
//
// Ranges of one size with the same plan and the same ones around them are one level, so a million
// networks with few plans take a packed table.
class OverrideRanges {
public:
    // The ranges are sound.
    OverrideRanges(std::span<const OverrideRange> ranges, const Overrides& all,
                   const HashSecret& secret);

    struct Level {
        std::uint32_t plan = 0;  // in Overrides::plans
        OverrideTable::Kind kind{};
        std::uint32_t wider = 0;     // the level around it; 0: none
        Wide addresses_but_one = 0;  // of the range
    };
    // The level of the smallest range that the key lies in; nullptr: it is in none.
    [[nodiscard]] const Level* around(ByteView key) const noexcept;
    // nullptr: nothing is around it.
    [[nodiscard]] const Level* wider_than(const Level& level) const noexcept {
        return level.wider == 0 ? nullptr : &levels_[level.wider];
    }
    // A keyed hash of the ranges and their plans.
    [[nodiscard]] std::uint64_t name() const noexcept { return name_; }
    [[nodiscard]] std::size_t bytes() const;

private:
    // Steps of either version, of which row 0 has no level.
    struct Steps {
        std::vector<Step<std::uint64_t>> steps{};
        std::vector<Step<Wide>> v6_steps{};
    };
    class Builder;

    std::vector<Level> levels_;  // the first is none
    Steps steps_;
    AddressTables tables_;
    std::uint64_t name_ = 0;
};

}  // namespace sluice
