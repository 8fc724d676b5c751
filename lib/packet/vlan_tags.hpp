#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// The VLANs of a packet by its first two tags, the outer one first. A tag of VID 0 gives a frame a
// priority and no VLAN (IEEE 802.1Q, 6.9.1): hosts take it as if the tag were not there, and so do
// all that tell connections or datagrams apart. What leaves keeps the tag.
struct VlanTags {
    static constexpr std::uint16_t kNone = 0x1000;  // a VID has twelve bits

    std::uint16_t outer = kNone;
    std::uint16_t inner = kNone;
};

// The VLANs of a packet with one tag at most.
[[nodiscard]] constexpr VlanTags vlan_tags(bool is_tagged, std::uint16_t id) noexcept {
    return {.outer = is_tagged && id != 0 ? id : VlanTags::kNone};
}

[[nodiscard]] constexpr VlanTags vlan_tags(const PacketHeaders& headers) noexcept {
    const VlanTags inner = vlan_tags(headers.fields.has(Field::VlanInnerId), headers.vlan_inner_id);
    const VlanTags outer = vlan_tags(headers.fields.has(Field::VlanId), headers.vlan_id);
    return outer.outer == VlanTags::kNone ? inner : VlanTags{outer.outer, inner.outer};
}

}  // namespace sluice
