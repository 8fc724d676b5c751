#include "lib/packet/ipv4.hpp"

#include "lib/packet/ip_fields.hpp"

#include <cstring>

namespace sluice {
namespace {

constexpr std::uint16_t kMoreFragments = 0x2000;
constexpr std::uint16_t kOffsetMask = 0x1FFF;

Fragment ipv4_fragment(std::uint16_t flags_and_offset) noexcept {
    if ((flags_and_offset & kOffsetMask) != 0) {
        return Fragment::Later;
    }
    return (flags_and_offset & kMoreFragments) != 0 ? Fragment::First : Fragment::None;
}

}  // namespace

Parsed parse_ipv4(Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!cursor.can_read(kIpv4MinSize)) {
        return cursor.missing(kIpv4MinSize, Parsed::TruncatedL3);
    }
    const std::uint8_t first = cursor.u8(0);
    const std::uint32_t header = (first & 0xFU) * 4;
    const std::uint16_t total = cursor.be16(2);
    if ((first >> 4) != 4 || header < kIpv4MinSize || (total != 0 && total < header)) {
        return Parsed::BadIpHeader;
    }
    headers.ip_version = IpVersion::V4;
    headers.dscp = cursor.u8(1) >> 2;
    headers.frag = ipv4_fragment(cursor.be16(6));
    headers.ttl = cursor.u8(8);
    headers.proto = cursor.u8(9);
    headers.ip_len = total;
    headers.src = {};
    headers.dst = {};
    std::memcpy(headers.src.bytes.data(), cursor.here() + kIpv4SrcAt, 4);
    std::memcpy(headers.dst.bytes.data(), cursor.here() + kIpv4DstAt, 4);
    headers.fields.add_all(kIpFields);
    headers.fields.add(Field::IpProto);
    headers.fields.add(Field::IpFrag);
    if (header > cursor.left()) {
        return Parsed::TruncatedL3;
    }
    // A length of zero (segmentation offload) or beyond the frame: what was received counts.
    if (total != 0 && total < cursor.left()) {
        cursor.end = cursor.at + total;
    }
    cursor.at += header;
    return outcome_of(headers.frag);
}

}  // namespace sluice
