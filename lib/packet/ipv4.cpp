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

Parsed parse_ipv4(Cursor& cursor, Flow& flow) noexcept {
    if (!cursor.can_read(kIpv4MinSize)) {
        return cursor.missing(kIpv4MinSize, Parsed::TruncatedL3);
    }
    const std::uint8_t first = cursor.u8(0);
    const std::uint32_t header = (first & 0xFU) * 4;
    const std::uint16_t total = cursor.be16(2);
    if ((first >> 4) != 4 || header < kIpv4MinSize || (total != 0 && total < header)) {
        return Parsed::BadIpHeader;
    }
    flow.ip_version = IpVersion::V4;
    flow.dscp = cursor.u8(1) >> 2;
    flow.frag = ipv4_fragment(cursor.be16(6));
    flow.ttl = cursor.u8(8);
    flow.proto = cursor.u8(9);
    flow.ip_len = total;
    flow.src = {};
    flow.dst = {};
    std::memcpy(flow.src.bytes.data(), cursor.here() + kIpv4SrcAt, 4);
    std::memcpy(flow.dst.bytes.data(), cursor.here() + kIpv4DstAt, 4);
    flow.fields.add_all(kIpFields);
    flow.fields.add(Field::IpProto);
    flow.fields.add(Field::IpFrag);
    if (header > cursor.left()) {
        return Parsed::TruncatedL3;
    }
    // A length of zero (segmentation offload) or beyond the frame: what was received counts.
    if (total != 0 && total < cursor.left()) {
        cursor.end = cursor.at + total;
    }
    cursor.at += header;
    return outcome_of(flow.frag);
}

}  // namespace sluice
