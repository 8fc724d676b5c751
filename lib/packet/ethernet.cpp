#include "lib/packet/ethernet.hpp"

namespace sluice {
namespace {

void note_tag(PacketHeaders& headers, unsigned tags, std::uint16_t id) noexcept {
    if (tags == 0) {
        headers.vlan_id = id;
        headers.fields.add(Field::VlanId);
    } else if (tags == 1) {
        headers.vlan_inner_id = id;
        headers.fields.add(Field::VlanInnerId);
    }
}

// Steps over Cisco's metadata: a version, the size in units of eight bytes, options, and as its
// last two bytes the EtherType of what follows.
Parsed step_over_metadata(Cursor& cursor, std::uint16_t& type) noexcept {
    constexpr std::uint32_t kUnit = 8;
    if (!cursor.can_read(kUnit)) {
        return cursor.missing(kUnit, Parsed::TruncatedL2);
    }
    const std::uint32_t size = cursor.u8(1) * kUnit;
    if (!cursor.can_read(size)) {
        return cursor.missing(size, Parsed::TruncatedL2);
    }
    type = cursor.be16(size - 2);
    cursor.at += size;
    return Parsed::Ok;
}

// Metadata of no size says nothing of what follows it.
bool is_metadata(const Cursor& cursor, std::uint16_t type) noexcept {
    return type == kTypeCiscoMetadata && !(cursor.can_read(2) && cursor.u8(1) == 0);
}

// Steps over all tags, and metadata between and behind them; `type` becomes the EtherType behind.
Parsed step_over_tags(Cursor& cursor, PacketHeaders* headers, std::uint16_t& type) noexcept {
    for (unsigned tags = 0; is_vlan_type(type) || is_metadata(cursor, type);) {
        if (type == kTypeCiscoMetadata) {
            if (const Parsed metadata = step_over_metadata(cursor, type); metadata != Parsed::Ok) {
                return metadata;
            }
            continue;
        }
        if (!cursor.can_read(kVlanTagSize)) {
            return cursor.missing(kVlanTagSize, Parsed::TruncatedL2);
        }
        if (headers != nullptr) {
            note_tag(*headers, tags++, cursor.be16(0) & 0xFFF);
        }
        type = cursor.be16(2);
        cursor.at += kVlanTagSize;
    }
    return Parsed::Ok;
}

LinkLayer by_nibble(const Cursor& cursor) noexcept {
    if (!cursor.can_read(1)) {
        return {.parsed = cursor.missing(1, Parsed::TruncatedL3)};
    }
    switch (cursor.u8(0) >> 4) {
        case 4:
            return {.version = IpVersion::V4};
        case 6:
            return {.version = IpVersion::V6};
        default:
            return {.parsed = Parsed::NotIp};
    }
}

LinkLayer step_over_mpls(Cursor& cursor) noexcept {
    for (bool bottom = false; !bottom;) {
        if (!cursor.can_read(kMplsLabelSize)) {
            return {.parsed = cursor.missing(kMplsLabelSize, Parsed::TruncatedL2)};
        }
        bottom = (cursor.u8(2) & 1) != 0;
        cursor.at += kMplsLabelSize;
    }
    return by_nibble(cursor);
}

// The size of the PPP protocol, behind the PPPoE header at the cursor. An odd first octet is the
// whole field (RFC 1661, 2 and 6.5): the number's upper octet, which is zero, is left out.
std::uint32_t size_of_ppp_protocol(const Cursor& cursor) noexcept {
    return (cursor.u8(kPppoeSize) & 1) != 0 ? 1 : 2;
}

LinkLayer step_over_pppoe(Cursor& cursor) noexcept {
    constexpr std::uint16_t kPppIpv4 = 0x0021;
    constexpr std::uint16_t kPppIpv6 = 0x0057;
    constexpr std::uint16_t kPppMplsUnicast = 0x0281;
    constexpr std::uint16_t kPppMplsMulticast = 0x0283;
    if (!cursor.can_read(kPppoeSize + 1)) {
        return {.parsed = cursor.missing(kPppoeSize + 1, Parsed::TruncatedL2)};
    }
    const std::uint32_t size = size_of_ppp_protocol(cursor);
    if (!cursor.can_read(kPppoeSize + size)) {
        return {.parsed = cursor.missing(kPppoeSize + size, Parsed::TruncatedL2)};
    }
    const std::uint16_t protocol = size == 1 ? cursor.u8(kPppoeSize) : cursor.be16(kPppoeSize);
    cursor.at += kPppoeSize + size;
    if (protocol == kPppIpv4) {
        return {.version = IpVersion::V4};
    }
    if (protocol == kPppIpv6) {
        return {.version = IpVersion::V6};
    }
    if (protocol == kPppMplsUnicast || protocol == kPppMplsMulticast) {
        return step_over_mpls(cursor);
    }
    return {.parsed = Parsed::NotIp};
}

LinkLayer by_type(Cursor& cursor, std::uint16_t type) noexcept {
    switch (type) {
        case kTypeIpv4:
            return {.version = IpVersion::V4};
        case kTypeIpv6:
            return {.version = IpVersion::V6};
        case kTypeMplsUnicast:
        case kTypeMplsMulticast:
            return step_over_mpls(cursor);
        case kTypePppoeSession:
            return step_over_pppoe(cursor);
        default:
            return {.parsed = Parsed::NotIp};
    }
}

}  // namespace

LinkLayer parse_ethernet(Cursor& cursor, PacketHeaders* headers) noexcept {
    if (!cursor.can_read(kEthernetSize)) {
        return {.parsed = cursor.missing(kEthernetSize, Parsed::TruncatedL2)};
    }
    std::uint16_t type = cursor.be16(12);
    cursor.at += kEthernetSize;
    if (headers != nullptr) {
        headers->fields.add(Field::EthSrc);
        headers->fields.add(Field::EthDst);
    }
    const Parsed tags = step_over_tags(cursor, headers, type);
    const std::uint32_t after_tags = cursor.at;
    if (tags != Parsed::Ok) {
        return {.parsed = tags, .after_tags = after_tags};
    }
    if (headers != nullptr && type >= kSmallestEtherType) {
        headers->eth_type = type;
        headers->fields.add(Field::EthType);
    }
    LinkLayer link = by_type(cursor, type);
    link.after_tags = after_tags;
    return link;
}

}  // namespace sluice
