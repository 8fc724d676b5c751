#pragma once
#include "lib/packet/cursor.hpp"

#include <cstdint>

// TCP (RFC 9293), UDP (RFC 768), ICMP (RFC 792), ICMPv6 (RFC 4443); the ports of SCTP, DCCP and
// UDP-Lite, which stand where TCP's do.
namespace sluice {

inline constexpr std::uint8_t kProtoIcmp = 1;
inline constexpr std::uint8_t kProtoIpip = 4;
inline constexpr std::uint8_t kProtoTcp = 6;
inline constexpr std::uint8_t kProtoUdp = 17;
inline constexpr std::uint8_t kProtoDccp = 33;
inline constexpr std::uint8_t kProtoIpv6 = 41;
inline constexpr std::uint8_t kProtoGre = 47;
inline constexpr std::uint8_t kProtoIcmpv6 = 58;
inline constexpr std::uint8_t kProtoSctp = 132;
inline constexpr std::uint8_t kProtoUdpLite = 136;

inline constexpr std::uint32_t kTcpMinSize = 20;
inline constexpr std::uint32_t kUdpSize = 8;
inline constexpr std::uint32_t kIcmpSize = 8;

// Reads the transport header at the cursor, if flow.proto is one of the above, and moves behind it.
// Ok, Cut, TruncatedL4 or BadL4Header.
[[nodiscard]] Parsed parse_transport(Cursor& cursor, PacketHeaders& headers) noexcept;

}  // namespace sluice
