#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstdint>

namespace sluice {

// 128 bits that only this installation knows.
using HashSecret = std::array<std::uint64_t, 2>;

// SipHash-1-3 (Aumasson, Bernstein 2012; the variant of Rust's and Ruby's hash tables).
[[nodiscard]] std::uint64_t siphash_1_3(const HashSecret& secret, ByteView bytes) noexcept;

}  // namespace sluice
