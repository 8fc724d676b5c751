#pragma once
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// LoadedLimit::rss_mapping where the packets of a key reach any worker.
inline constexpr std::uint64_t kMappedAnywhere = 2;
// And where each key has one owner, who is asked.
inline constexpr std::uint64_t kMappedToOwners = 3;

// Fills LoadedLimit::rss_mapping of all limits and penalty boxes: a hash of how the packets of a
// key are distributed over so many workers. Sets in which it is equal bring them to the same
// workers.
void list_rss_mappings(LoadedSet& set, std::size_t workers);

}  // namespace sluice
