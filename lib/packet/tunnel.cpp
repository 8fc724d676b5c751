#include "lib/packet/tunnel.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::uint16_t kTypeEthernetBridging = 0x6558;

std::optional<InnerPacket> inner_ethernet(Cursor cursor) noexcept {
    const std::uint32_t frame_size = cursor.left();
    const LinkLayer link = parse_ethernet(cursor, nullptr);
    if (link.parsed != Parsed::Ok) {
        return std::nullopt;
    }
    return InnerPacket{cursor, link.version, frame_size};
}

std::optional<InnerPacket> inside_gre(Cursor cursor) noexcept {
    constexpr std::uint32_t kBaseSize = 4;
    constexpr std::uint16_t kChecksum = 0x8000;
    constexpr std::uint16_t kGreRouting = 0x4000;
    constexpr std::uint16_t kKey = 0x2000;
    constexpr std::uint16_t kSequence = 0x1000;
    constexpr std::uint16_t kVersion = 0x0007;
    if (!cursor.can_read(kBaseSize)) {
        return std::nullopt;
    }
    const std::uint16_t flags = cursor.be16(0);
    const std::uint16_t protocol = cursor.be16(2);
    if ((flags & (kGreRouting | kVersion)) != 0) {
        return std::nullopt;
    }
    cursor.at += kBaseSize;
    for (const std::uint16_t option : {kChecksum, kKey, kSequence}) {
        cursor.at += (flags & option) != 0 ? 4 : 0;
    }
    if (cursor.at > cursor.end) {
        return std::nullopt;
    }
    switch (protocol) {
        case kTypeIpv4:
            return InnerPacket{cursor, IpVersion::V4, 0};
        case kTypeIpv6:
            return InnerPacket{cursor, IpVersion::V6, 0};
        case kTypeEthernetBridging:
            return inner_ethernet(cursor);
        default:
            return std::nullopt;
    }
}

std::optional<InnerPacket> inside_vxlan(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    constexpr std::uint8_t kValidVni = 0x08;
    if (!cursor.can_read(kSize) || (cursor.u8(0) & kValidVni) == 0) {
        return std::nullopt;
    }
    cursor.at += kSize;
    return inner_ethernet(cursor);
}

}  // namespace

std::optional<InnerPacket> look_inside(const Cursor& cursor, const PacketHeaders& headers,
                                       Tunnels tunnels) noexcept {
    switch (headers.proto) {
        case kProtoGre:
            return tunnels.gre ? inside_gre(cursor) : std::nullopt;
        case kProtoUdp:
            return tunnels.vxlan && headers.dport == kVxlanPort ? inside_vxlan(cursor)
                                                                : std::nullopt;
        case kProtoIpip:
            return tunnels.ipip ? std::optional{InnerPacket{cursor, IpVersion::V4, 0}}
                                : std::nullopt;
        case kProtoIpv6:
            return tunnels.ipip ? std::optional{InnerPacket{cursor, IpVersion::V6, 0}}
                                : std::nullopt;
        default:
            return std::nullopt;
    }
}

}  // namespace sluice
