#pragma once
#include "lib/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// LoadedLimit::spread where the packets of a key meet any worker.
inline constexpr std::uint64_t kSpreadAnywhere = 2;

// Fills LoadedLimit::spread of all limits and penalty boxes: what tells which of so many workers
// the packets of a key meet. Two sets in which it is the same bring them to the same ones.
void list_spreads(LoadedSet& set, std::size_t workers);

}  // namespace sluice
