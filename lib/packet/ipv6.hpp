#pragma once
#include "lib/packet/cursor.hpp"

#include <cstddef>
#include <cstdint>

// IPv6 and its extension headers, RFC 8200.
namespace sluice {

inline constexpr std::uint32_t kIpv6Size = 40;
inline constexpr std::size_t kIpv6SrcAt = 8;
inline constexpr std::size_t kIpv6DstAt = 24;

// Reads like parse_ipv4(), extension headers included; flow.proto is what follows the last of them.
[[nodiscard]] Parsed parse_ipv6(Cursor& cursor, PacketHeaders& headers) noexcept;

}  // namespace sluice
