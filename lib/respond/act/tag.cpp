#include "lib/respond/act/tag.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/ipv4.hpp"

namespace sluice {
namespace {

// The low two bits of the traffic class are ECN's (RFC 3168) and stay.
void tag_ipv4(MutableBytes frame, std::size_t at, std::uint8_t dscp) noexcept {
    const std::uint16_t before = load_be16(frame, at);
    const auto after = static_cast<std::uint16_t>((before & 0xFF03) | (dscp << 2));
    store_be16(frame, at, after);
    const std::uint16_t checksum = load_be16(frame, at + kIpv4ChecksumAt);
    store_be16(frame, at + kIpv4ChecksumAt, updated_checksum(checksum, before, after));
}

// Version (4 bits), DSCP (6), ECN (2), then the flow label.
void tag_ipv6(MutableBytes frame, std::size_t at, std::uint8_t dscp) noexcept {
    const std::uint16_t before = load_be16(frame, at);
    store_be16(frame, at, static_cast<std::uint16_t>((before & 0xF03F) | (dscp << 6)));
}

void tag_vlan(MutableBytes frame, std::uint8_t pcp) noexcept {
    const std::uint16_t before = load_be16(frame, kEthernetSize);
    store_be16(frame, kEthernetSize, static_cast<std::uint16_t>((before & 0x1FFF) | (pcp << 13)));
}

}  // namespace

void tag_frame(MutableBytes frame, const PacketHeaders& headers, std::optional<std::uint8_t> dscp,
               std::optional<std::uint8_t> pcp) noexcept {
    // With metadata before it the tag stands elsewhere, and keeps its priority.
    if (pcp && headers.fields.has(Field::VlanId) && frame.size() >= kEthernetSize + kVlanTagSize &&
        is_vlan_type(load_be16(frame, kEthernetTypeAt))) {
        tag_vlan(frame, *pcp);
    }
    if (!dscp || headers.outer_l3_at + std::size_t{kIpv4MinSize} > frame.size()) {
        return;
    }
    if (headers.outer_version == IpVersion::V4) {
        tag_ipv4(frame, headers.outer_l3_at, *dscp);
    } else if (headers.outer_version == IpVersion::V6) {
        tag_ipv6(frame, headers.outer_l3_at, *dscp);
    }
}

}  // namespace sluice
