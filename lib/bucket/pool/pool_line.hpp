#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

// Index of a line in its pool; 0 is none.
using PoolLine = std::uint32_t;
inline constexpr PoolLine kNoLine = 0;
inline constexpr std::size_t kLineBytes = 64;
// 24 bits in a table's entry.
inline constexpr std::size_t kMostLines = (std::size_t{1} << 24) - 1;

}  // namespace sluice
