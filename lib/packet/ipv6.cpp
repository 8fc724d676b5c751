#include "lib/packet/ipv6.hpp"

#include "lib/packet/ip_fields.hpp"
#include "lib/packet/parse.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr std::uint8_t kHopByHop = 0;
constexpr std::uint8_t kRouting = 43;
constexpr std::uint8_t kFragmentHeader = 44;
constexpr std::uint8_t kAuthentication = 51;
constexpr std::uint8_t kDestinationOptions = 60;
constexpr std::uint8_t kMobility = 135;
constexpr std::uint8_t kHip = 139;
constexpr std::uint8_t kShim6 = 140;
constexpr std::uint32_t kLeastExtension = 8;

bool is_extension(std::uint8_t next) noexcept {
    switch (next) {
        case kHopByHop:
        case kRouting:
        case kFragmentHeader:
        case kAuthentication:
        case kDestinationOptions:
        case kMobility:
        case kHip:
        case kShim6:
            return true;
        default:
            return false;
    }
}

// Bytes of the extension header at the cursor. The Authentication header counts in words of 4
// bytes, less 2 (RFC 4302); the Fragment header is always 8; the others count in 8 bytes.
std::uint32_t extension_size(std::uint8_t kind, std::uint8_t length) noexcept {
    if (kind == kFragmentHeader) {
        return kLeastExtension;
    }
    return kind == kAuthentication ? (length + 2U) * 4 : (length + 1U) * 8;
}

Fragment ipv6_fragment(std::uint16_t offset_and_flags) noexcept {
    if ((offset_and_flags >> 3) != 0) {
        return Fragment::Later;
    }
    return (offset_and_flags & 1) != 0 ? Fragment::First : Fragment::None;
}

// Walks the extension headers. The proto field counts from here on: it is what was reached.
Parsed step_over_extensions(Cursor& cursor, PacketHeaders& headers) noexcept {
    std::uint8_t next = headers.proto;
    for (unsigned count = 0; is_extension(next); ++count) {
        if (count == kMaxIpv6Extensions) {
            return Parsed::TooDeep;
        }
        if (!cursor.can_read(kLeastExtension)) {
            return cursor.missing(kLeastExtension, Parsed::TruncatedL3);
        }
        const std::uint32_t size = extension_size(next, cursor.u8(1));
        if (size > cursor.left()) {
            return Parsed::TruncatedL3;
        }
        if (next == kFragmentHeader) {
            // One header that fragments is enough: an atomic one behind it does not undo it.
            headers.frag = std::max(headers.frag, ipv6_fragment(cursor.be16(2)));
        }
        next = cursor.u8(0);
        headers.proto = next;
        cursor.at += size;
        if (headers.frag == Fragment::Later) {
            break;  // what follows is the middle of something
        }
    }
    headers.fields.add(Field::IpProto);
    headers.fields.add(Field::IpFrag);
    return outcome_of(headers.frag);
}

}  // namespace

Parsed parse_ipv6(Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!cursor.can_read(kIpv6Size)) {
        return cursor.missing(kIpv6Size, Parsed::TruncatedL3);
    }
    if ((cursor.u8(0) >> 4) != 6) {
        return Parsed::BadIpHeader;
    }
    const std::uint32_t payload = cursor.be16(4);
    headers.ip_version = IpVersion::V6;
    headers.dscp = static_cast<std::uint8_t>((cursor.be16(0) >> 6) & 0x3F);
    headers.frag = Fragment::None;
    headers.proto = cursor.u8(6);
    headers.ttl = cursor.u8(7);
    headers.ip_len = kIpv6Size + payload;
    std::memcpy(headers.src.bytes.data(), cursor.here() + kIpv6SrcAt, 16);
    std::memcpy(headers.dst.bytes.data(), cursor.here() + kIpv6DstAt, 16);
    headers.fields.add_all(kIpFields);
    // Zero is a jumbogram or segmentation offload: what was received counts.
    if (payload != 0 && kIpv6Size + payload < cursor.left()) {
        cursor.end = cursor.at + kIpv6Size + payload;
    }
    cursor.at += kIpv6Size;
    return step_over_extensions(cursor, headers);
}

}  // namespace sluice
