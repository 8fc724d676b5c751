#pragma once
#include <cstdint>

// Numbers of draft-ietf-opsawg-pcapng that its reader and its writer share.
namespace sluice::pcapng {

inline constexpr std::uint32_t kSectionHeader = 0x0A0D'0D0A;  // the same in both byte orders
inline constexpr std::uint32_t kInterface = 1;
inline constexpr std::uint32_t kEnhancedPacket = 6;
inline constexpr std::uint32_t kOrderMagic = 0x1A2B'3C4D;
inline constexpr std::uint32_t kMostCaptured = 262'144;  // bytes of a packet, as libpcap

// Options.
inline constexpr std::uint16_t kEndOfOptions = 0;
inline constexpr std::uint16_t kComment = 1;          // of any block
inline constexpr std::uint16_t kUserApplication = 4;  // of a section
inline constexpr std::uint16_t kTimeResolution = 9;   // of an interface

}  // namespace sluice::pcapng
