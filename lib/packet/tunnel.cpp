#include "lib/packet/tunnel.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::uint16_t kTypeEthernetBridging = 0x6558;
constexpr std::uint16_t kTypeWccp = 0x883E;

// `size` bytes of a tunnel's header are not there as a whole.
InnerPacket header_missing(const Cursor& cursor, std::uint32_t size) noexcept {
    return InnerPacket{.cursor = cursor, .reached = cursor.missing(size, Parsed::TruncatedL4)};
}

std::optional<InnerPacket> inner_ethernet(Cursor cursor) noexcept {
    const std::uint32_t frame_size = cursor.left();
    const LinkLayer link = parse_ethernet(cursor, nullptr);
    switch (link.parsed) {
        case Parsed::Ok:
            return InnerPacket{cursor, link.version, frame_size};
        case Parsed::NotIp:
            return std::nullopt;
        case Parsed::Cut:
            return InnerPacket{.cursor = cursor, .reached = Parsed::Cut};
        default:
            return InnerPacket{.cursor = cursor, .reached = Parsed::TruncatedL4};
    }
}

// In a session of IP the first four bits of a packet are its version.
std::optional<InnerPacket> by_first_bits(const Cursor& cursor) noexcept {
    if (!cursor.can_read(1)) {
        return header_missing(cursor, 1);
    }
    switch (cursor.u8(0) >> 4) {
        case 4:
            return InnerPacket{cursor, IpVersion::V4, 0};
        case 6:
            return InnerPacket{cursor, IpVersion::V6, 0};
        default:
            return std::nullopt;
    }
}

// WCCP of GRE without options, as Linux takes it: a packet whose first four bits are a 4 is one of
// version 1, all others stand behind the four bytes of version 2. Ends over IPv6 take IPv6 there.
std::optional<InnerPacket> inside_wccp(Cursor cursor) noexcept {
    constexpr std::uint32_t kRedirectSize = 4;
    if (!cursor.can_read(1)) {
        return header_missing(cursor, 1);
    }
    if (cursor.u8(0) >> 4 != 4) {
        if (cursor.left() < kRedirectSize) {
            return header_missing(cursor, kRedirectSize);
        }
        cursor.at += kRedirectSize;
    }
    return by_first_bits(cursor);
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
        return header_missing(cursor, kBaseSize);
    }
    const std::uint16_t flags = cursor.be16(0);
    const std::uint16_t protocol = cursor.be16(2);
    if ((flags & (kGreRouting | kVersion)) != 0) {
        return std::nullopt;
    }
    std::uint32_t size = kBaseSize;
    for (const std::uint16_t option : {kChecksum, kKey, kSequence}) {
        size += (flags & option) != 0 ? 4 : 0;
    }
    if (size > cursor.left()) {
        return header_missing(cursor, size);
    }
    cursor.at += size;
    return flags == 0 && protocol == kTypeWccp ? inside_wccp(cursor)
                                               : inner_by_type(cursor, protocol);
}

std::optional<InnerPacket> inside_vxlan(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    constexpr std::uint8_t kValidVni = 0x08;
    if (!cursor.can_read(kSize)) {
        return header_missing(cursor, kSize);
    }
    if ((cursor.u8(0) & kValidVni) == 0) {
        return std::nullopt;
    }
    cursor.at += kSize;
    return inner_ethernet(cursor);
}

// Options lie before the packet. A control packet (the O bit) is looked into as any other, since
// there are ends that forward what is in it.
std::optional<InnerPacket> inside_geneve(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    if (!cursor.can_read(kSize)) {
        return header_missing(cursor, kSize);
    }
    if (cursor.u8(0) >> 6 != 0) {  // another version
        return std::nullopt;
    }
    const std::uint16_t type = cursor.be16(2);
    const std::uint32_t size = kSize + (cursor.u8(0) & 0x3FU) * 4;
    if (size > cursor.left()) {
        return header_missing(cursor, size);
    }
    cursor.at += size;
    return inner_by_type(cursor, type);
}

// The packet behind GTP-U's extension headers. One of no size ends nowhere. Ends that step over
// none (older ones of Linux) take the first one for the packet where its size reads as the first
// byte of an IP header: 256 bytes and more, which no extension has.
std::optional<InnerPacket> behind_gtpu_extensions(Cursor cursor, std::uint8_t next) noexcept {
    for (unsigned walked = 0; next != 0; ++walked) {
        if (walked == kMaxGtpuExtensions) {
            return InnerPacket{.cursor = cursor, .reached = Parsed::TooDeep};
        }
        if (!cursor.can_read(1)) {
            return header_missing(cursor, 1);
        }
        const std::uint32_t size = cursor.u8(0) * 4U;
        if (walked == 0 && by_first_bits(cursor)) {
            return InnerPacket{.cursor = cursor, .reached = Parsed::TooDeep};
        }
        if (size == 0) {
            return std::nullopt;
        }
        if (!cursor.can_read(size)) {
            return header_missing(cursor, size);
        }
        next = cursor.u8(size - 1);
        cursor.at += size;
    }
    return by_first_bits(cursor);
}

std::optional<InnerPacket> inside_gtpu(Cursor cursor) noexcept {
    constexpr std::uint32_t kSize = 8;
    constexpr std::uint32_t kMoreSize = 4;  // there if any of three flags is set
    constexpr std::uint8_t kVersionAndType = 0xF0;
    constexpr std::uint8_t kVersion1 = 0x30;
    constexpr std::uint8_t kAnyOfThree = 0x07;
    constexpr std::uint8_t kExtensions = 0x04;
    constexpr std::uint8_t kPacket = 0xFF;  // G-PDU; other messages are those of the ends
    if (!cursor.can_read(kSize)) {
        return header_missing(cursor, kSize);
    }
    const std::uint8_t flags = cursor.u8(0);
    if ((flags & kVersionAndType) != kVersion1 || cursor.u8(1) != kPacket) {
        return std::nullopt;
    }
    cursor.at += kSize;
    if ((flags & kAnyOfThree) == 0) {
        return by_first_bits(cursor);
    }
    if (!cursor.can_read(kMoreSize)) {
        return header_missing(cursor, kMoreSize);
    }
    const std::uint8_t next = (flags & kExtensions) != 0 ? cursor.u8(3) : 0;
    cursor.at += kMoreSize;
    return behind_gtpu_extensions(cursor, next);
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
