#pragma once
#include <cstdint>

namespace sluice {

// Versions of a long header. Others are read as far as all versions agree (RFC 8999).
inline constexpr std::uint32_t kQuicNegotiation = 0;
inline constexpr std::uint32_t kQuicV1 = 0x0000'0001;  // RFC 9000
inline constexpr std::uint32_t kQuicV2 = 0x6B33'43CF;  // RFC 9369

[[nodiscard]] constexpr bool is_known_quic_version(std::uint32_t version) noexcept {
    return version == kQuicV1 || version == kQuicV2;
}

// No server has it: clients name one to learn which versions there are (RFC 9000, 15).
[[nodiscard]] constexpr bool is_reserved_quic_version(std::uint32_t version) noexcept {
    return (version & 0x0F0F'0F0FU) == 0x0A0A'0A0AU;
}

}  // namespace sluice
