#pragma once
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// MeteredLimit::spread where the packets of a key meet any worker.
inline constexpr std::uint64_t kSpreadAnywhere = 2;

// Fills MeteredLimit::spread of all limits and penalty boxes: what tells which of so many workers
// the packets of a key meet. Two sets in which it is the same bring them to the same ones.
void list_spreads(RuleSet& set, std::size_t workers);

}  // namespace sluice
