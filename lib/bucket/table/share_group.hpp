#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

// Limits whose entries count together for a share of the table: all of a tenant's, with those that
// its rules had before, as long as entries of these are left. 0: none.
using ShareGroup = std::uint16_t;
inline constexpr std::size_t kMostShareGroups = 256;

}  // namespace sluice
