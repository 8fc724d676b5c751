#pragma once
#include <cstdint>

namespace sluice {

// Flags of TCP's header (RFC 9293, 3.1), as in PacketHeaders::tcp_flags.
inline constexpr std::uint16_t kTcpFin = 0x01;
inline constexpr std::uint16_t kTcpSyn = 0x02;
inline constexpr std::uint16_t kTcpRst = 0x04;
inline constexpr std::uint16_t kTcpPsh = 0x08;
inline constexpr std::uint16_t kTcpAck = 0x10;
inline constexpr std::uint16_t kTcpUrg = 0x20;

}  // namespace sluice
