#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace sluice {

using KeyedSum = std::array<std::uint64_t, 4>;

// BLAKE2b of all parts, one after the other, under a key: nobody without it finds the sum of other
// bytes. Parts of no fixed size carry their size with them.
[[nodiscard]] KeyedSum keyed_sum(std::span<const std::uint8_t, 32> key,
                                 std::span<const ByteView> parts) noexcept;

}  // namespace sluice
