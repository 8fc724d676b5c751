#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>

namespace sluice {

using Sha256Digest = std::array<std::byte, 32>;

[[nodiscard]] Sha256Digest sha256(ByteView bytes) noexcept;

// RFC 2104. A key has at most 32 bytes and a message at most 64, as those of HKDF here.
inline constexpr std::size_t kMaxHmacKey = 32;
inline constexpr std::size_t kMaxHmacMessage = 64;
[[nodiscard]] Sha256Digest hmac_sha256(ByteView key, ByteView message) noexcept;

}  // namespace sluice
