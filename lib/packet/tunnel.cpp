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

// The packet that GRE or GENEVE carries, by its EtherType.
std::optional<InnerPacket> inner_by_type(const Cursor& cursor, std::uint16_t type) noexcept {
    switch (type) {
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
    return inner_by_type(cursor, protocol);
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

// Options lie before the packet. A control packet (the O bit) is looked into as any other, since
// there are ends that forward what is in it.
std::optional<InnerPacket> inside_geneve(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    if (!cursor.can_read(kSize) || cursor.u8(0) >> 6 != 0) {  // another version
        return std::nullopt;
    }
    const std::uint16_t type = cursor.be16(2);
    cursor.at += kSize + (cursor.u8(0) & 0x3FU) * 4;
    return cursor.at <= cursor.end ? inner_by_type(cursor, type) : std::nullopt;
}

// In a session of IP the first four bits of a packet are its version.
std::optional<InnerPacket> by_first_bits(const Cursor& cursor) noexcept {
    switch (cursor.can_read(1) ? cursor.u8(0) >> 4 : 0) {
        case 4:
            return InnerPacket{cursor, IpVersion::V4, 0};
        case 6:
            return InnerPacket{cursor, IpVersion::V6, 0};
        default:
            return std::nullopt;
    }
}

// False: they end nowhere.
bool step_over_gtpu_extensions(Cursor& cursor, std::uint8_t next, bool& is_too_deep) noexcept {
    for (unsigned walked = 0; next != 0; ++walked) {
        if (walked == kMaxGtpuExtensions) {
            return is_too_deep = true;
        }
        const std::uint32_t size = cursor.can_read(1) ? cursor.u8(0) * 4U : 0;
        if (size == 0 || !cursor.can_read(size)) {
            return false;
        }
        next = cursor.u8(size - 1);
        cursor.at += size;
    }
    return true;
}

std::optional<InnerPacket> inside_gtpu(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    constexpr std::uint32_t kMoreSize = 4;  // there if any of three flags is set
    constexpr std::uint8_t kVersionAndType = 0xF0;
    constexpr std::uint8_t kVersion1 = 0x30;
    constexpr std::uint8_t kAnyOfThree = 0x07;
    constexpr std::uint8_t kExtensions = 0x04;
    constexpr std::uint8_t kPacket = 0xFF;  // G-PDU; other messages are those of the ends
    if (!cursor.can_read(kSize) || (cursor.u8(0) & kVersionAndType) != kVersion1 ||
        cursor.u8(1) != kPacket) {
        return std::nullopt;
    }
    const std::uint8_t flags = cursor.u8(0);
    cursor.at += kSize;
    if ((flags & kAnyOfThree) != 0) {
        if (!cursor.can_read(kMoreSize)) {
            return std::nullopt;
        }
        const std::uint8_t next = (flags & kExtensions) != 0 ? cursor.u8(3) : 0;
        cursor.at += kMoreSize;
        bool is_too_deep = false;
        if (!step_over_gtpu_extensions(cursor, next, is_too_deep)) {
            return std::nullopt;
        }
        if (is_too_deep) {
            return InnerPacket{.cursor = cursor, .is_too_deep = true};
        }
    }
    return by_first_bits(cursor);
}

std::optional<InnerPacket> inside_udp(const Cursor& cursor, std::uint16_t port,
                                      const Tunnels& tunnels) noexcept {
    std::optional<UdpTunnel> found;
    tunnels.each_port([&](std::uint16_t one, UdpTunnel tunnel) {
        found = one == port ? std::optional{tunnel} : found;
    });
    if (!found) {
        return std::nullopt;
    }
    switch (*found) {
        case UdpTunnel::Vxlan:
            return inside_vxlan(cursor);
        case UdpTunnel::Geneve:
            return inside_geneve(cursor);
        case UdpTunnel::Gtpu:
            return inside_gtpu(cursor);
    }
    return std::nullopt;
}

}  // namespace

std::optional<InnerPacket> look_inside(const Cursor& cursor, const PacketHeaders& headers,
                                       const Tunnels& tunnels) noexcept {
    switch (headers.proto) {
        case kProtoGre:
            return tunnels.gre ? inside_gre(cursor) : std::nullopt;
        case kProtoUdp:
            return inside_udp(cursor, headers.dport, tunnels);
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
