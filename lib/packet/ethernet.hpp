#pragma once
#include "lib/packet/cursor.hpp"

#include <cstddef>
#include <cstdint>

// Ethernet II and what may stand between it and IP: VLAN tags (IEEE 802.1Q, 802.1ad), Cisco's
// metadata (security group tags), MPLS labels (RFC 3032), a PPPoE session header (RFC 2516) and the
// PPP protocol behind it.
namespace sluice {

inline constexpr std::size_t kEthernetDstAt = 0;
inline constexpr std::size_t kEthernetSrcAt = 6;
inline constexpr std::size_t kEthernetTypeAt = 12;
inline constexpr std::uint32_t kEthernetSize = 14;
inline constexpr std::uint32_t kVlanTagSize = 4;
inline constexpr std::uint32_t kMplsLabelSize = 4;
inline constexpr std::uint32_t kPppoeSize = 6;

inline constexpr std::uint16_t kTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kTypeIpv6 = 0x86DD;
inline constexpr std::uint16_t kTypeCiscoMetadata = 0x8909;
inline constexpr std::uint16_t kTypeMplsUnicast = 0x8847;
inline constexpr std::uint16_t kTypeMplsMulticast = 0x8848;
inline constexpr std::uint16_t kTypePppoeSession = 0x8864;
inline constexpr std::uint16_t kSmallestEtherType = 0x0600;  // below: an 802.3 length

[[nodiscard]] constexpr bool is_vlan_type(std::uint16_t type) noexcept {
    return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200;
}

// The end of the link layer, and what lies behind it.
struct LinkLayer {
    Parsed parsed = Parsed::Ok;  // Ok: IP of `version` starts at the cursor
    IpVersion version = IpVersion::None;
    std::uint32_t after_tags = 0;  // offset behind Ethernet, VLAN tags and metadata
};

// Steps over the Ethernet header and everything up to IP. With `flow`, notes the eth and vlan
// fields there (the outermost frame); without, only walks (an inner frame).
[[nodiscard]] LinkLayer parse_ethernet(Cursor& cursor, PacketHeaders* headers) noexcept;

}  // namespace sluice
