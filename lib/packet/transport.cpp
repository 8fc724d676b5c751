#include "lib/packet/transport.hpp"

#include <algorithm>

namespace sluice {
namespace {

// How much of a header is read: a capture that ends behind it lacks nothing a rule can test.
constexpr std::uint32_t kPortsSize = 4;
constexpr std::uint32_t kTcpRead = 14;
constexpr std::uint32_t kUdpRead = 6;
constexpr std::uint32_t kIcmpRead = 2;

// The header was on the wire, and what is read of it is at hand.
bool has_header(const Cursor& cursor, std::uint32_t size, std::uint32_t read) noexcept {
    return cursor.left() >= size && cursor.can_read(read);
}

void note_ports(const Cursor& cursor, PacketHeaders& headers) noexcept {
    headers.sport = cursor.be16(0);
    headers.dport = cursor.be16(2);
    headers.fields.add(Field::L4Sport);
    headers.fields.add(Field::L4Dport);
}

// The header is not there as a whole. What a cut capture still holds of the ports counts.
[[gnu::noinline, gnu::cold]] Parsed header_missing(const Cursor& cursor, std::uint32_t size,
                                                   PacketHeaders* with_ports) noexcept {
    const Parsed outcome = cursor.missing(size, Parsed::TruncatedL4);
    if (outcome == Parsed::Cut && with_ports != nullptr && cursor.can_read(kPortsSize)) {
        note_ports(cursor, *with_ports);
    }
    return outcome;
}

// A TCP header that is longer than what is left. Whoever claims no more than came contradicts
// himself; a first fragment, or a packet that ended before its length, only lacks the rest.
[[gnu::noinline, gnu::cold]] Parsed header_too_long(const Cursor& cursor, std::uint32_t size,
                                                    const PacketHeaders& headers) noexcept {
    const bool claimed = cursor.at + size <= std::uint32_t{headers.l3_at} + headers.ip_len;
    return claimed || headers.frag == Fragment::First ? Parsed::TruncatedL4 : Parsed::BadL4Header;
}

void note_payload(Cursor& cursor, PacketHeaders& headers, std::uint32_t header) noexcept {
    cursor.at += header;
    headers.payload_len = cursor.left();
    headers.payload_at = static_cast<std::uint16_t>(std::min<std::uint32_t>(cursor.at, 0xFFFF));
    headers.fields.add(Field::PayloadLen);
}

constexpr FieldSet kTcpFields = [] {
    FieldSet set;
    for (const Field field : {Field::TcpFlags, Field::TcpSyn, Field::TcpAck, Field::TcpFin,
                              Field::TcpRst, Field::TcpPsh, Field::TcpUrg}) {
        set.add(field);
    }
    return set;
}();

Parsed parse_tcp(Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!has_header(cursor, kTcpMinSize, kTcpRead)) {
        return header_missing(cursor, kTcpMinSize, &headers);
    }
    const std::uint16_t offset_and_flags = cursor.be16(12);
    const std::uint32_t header = (offset_and_flags >> 12) * 4U;
    if (header < kTcpMinSize) {
        return Parsed::BadL4Header;
    }
    if (header > cursor.left()) {
        return header_too_long(cursor, header, headers);
    }
    note_ports(cursor, headers);
    headers.tcp_flags = offset_and_flags & 0xFFF;
    headers.fields.add_all(kTcpFields);
    note_payload(cursor, headers, header);
    return Parsed::Ok;
}

Parsed parse_udp(Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!has_header(cursor, kUdpSize, kUdpRead)) {
        return header_missing(cursor, kUdpSize, &headers);
    }
    const std::uint32_t length = cursor.be16(4);
    if (length != 0 && length < kUdpSize) {
        return Parsed::BadL4Header;
    }
    note_ports(cursor, headers);
    note_payload(cursor, headers, kUdpSize);
    if (length != 0) {
        headers.payload_len = std::min(headers.payload_len, length - kUdpSize);
    }
    return Parsed::Ok;
}

Parsed parse_icmp(Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!has_header(cursor, kIcmpSize, kIcmpRead)) {
        return header_missing(cursor, kIcmpSize, nullptr);
    }
    headers.icmp_type = cursor.u8(0);
    headers.icmp_code = cursor.u8(1);
    headers.fields.add(Field::IcmpType);
    headers.fields.add(Field::IcmpCode);
    note_payload(cursor, headers, kIcmpSize);
    return Parsed::Ok;
}

Parsed parse_ports_only(const Cursor& cursor, PacketHeaders& headers) noexcept {
    if (!cursor.can_read(kPortsSize)) {
        return header_missing(cursor, kPortsSize, nullptr);
    }
    note_ports(cursor, headers);
    return Parsed::Ok;
}

}  // namespace

Parsed parse_transport(Cursor& cursor, PacketHeaders& headers) noexcept {
    headers.l4_at = static_cast<std::uint16_t>(std::min<std::uint32_t>(cursor.at, 0xFFFF));
    switch (headers.proto) {
        case kProtoTcp:
            return parse_tcp(cursor, headers);
        case kProtoUdp:
            return parse_udp(cursor, headers);
        case kProtoIcmp:
            return headers.ip_version == IpVersion::V4 ? parse_icmp(cursor, headers) : Parsed::Ok;
        case kProtoIcmpv6:
            return headers.ip_version == IpVersion::V6 ? parse_icmp(cursor, headers) : Parsed::Ok;
        case kProtoSctp:
        case kProtoDccp:
        case kProtoUdpLite:
            return parse_ports_only(cursor, headers);
        default:
            return Parsed::Ok;
    }
}

}  // namespace sluice
