#pragma once
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The meaning of a rule for the owner of a packet that it matches: its owner group, counted from 1
// on, and what goes with it.
inline constexpr std::uint16_t kHandsNothing = 0;
inline constexpr std::uint16_t kIsBudget = 0x8000;  // checked before rules that decide on sight
inline constexpr std::uint16_t kDecidesOnSight = 0x7FFF;  // no further rule is checked
static_assert(kMaxRules < kDecidesOnSight, "a group for each rule at most");

[[nodiscard]] inline bool is_owned(std::uint16_t steering) noexcept {
    return steering != kHandsNothing && steering != kDecidesOnSight;
}

// Fills set.steering. One worker steers nothing.
void list_owner_rules(LoadedSet& set, std::size_t workers);

}  // namespace sluice
