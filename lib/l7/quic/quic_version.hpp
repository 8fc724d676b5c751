#pragma once
#include <cstdint>

namespace sluice {

// Of a long header. Others are read as far as all versions agree (RFC 8999).
inline constexpr std::uint32_t kQuicNegotiation = 0;
inline constexpr std::uint32_t kQuicV1 = 0x0000'0001;  // RFC 9000
inline constexpr std::uint32_t kQuicV2 = 0x6B33'43CF;  // RFC 9369

[[nodiscard]] constexpr bool is_known_quic_version(std::uint32_t version) noexcept {
    return version == kQuicV1 || version == kQuicV2;
}

}  // namespace sluice
