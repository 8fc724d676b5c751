#include "lib/packet/transport.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint32_t kPortsSize = 4;

void note_ports(const Cursor& cursor, Flow& flow) noexcept {
    flow.sport = cursor.be16(0);
    flow.dport = cursor.be16(2);
    flow.fields.add(Field::L4Sport);
    flow.fields.add(Field::L4Dport);
}

// The header is on the wire, and of it the `fields_end` bytes that hold our fields are at hand.
bool can_read_fields(const Cursor& cursor, std::uint32_t size, std::uint32_t fields_end) noexcept {
    return cursor.can_read(fields_end) && cursor.at + size <= cursor.end;
}

// The fields are not all there. What a cut capture still holds of the ports counts.
[[gnu::noinline, gnu::cold]] Parsed header_missing(const Cursor& cursor, std::uint32_t size,
                                                   Flow* with_ports) noexcept {
    const Parsed outcome = cursor.missing(size, Parsed::TruncatedL4);
    if (outcome == Parsed::Cut && with_ports != nullptr && cursor.can_read(kPortsSize)) {
        note_ports(cursor, *with_ports);
    }
    return outcome;
}

void note_payload(Cursor& cursor, Flow& flow, std::uint32_t header) noexcept {
    cursor.at += header;
    flow.payload_len = cursor.left();
    flow.payload_at = static_cast<std::uint16_t>(std::min<std::uint32_t>(cursor.at, 0xFFFF));
    flow.fields.add(Field::PayloadLen);
}

constexpr FieldSet kTcpFields = [] {
    FieldSet set;
    for (const Field field : {Field::TcpFlags, Field::TcpSyn, Field::TcpAck, Field::TcpFin,
                              Field::TcpRst, Field::TcpPsh, Field::TcpUrg}) {
        set.add(field);
    }
    return set;
}();

Parsed parse_tcp(Cursor& cursor, Flow& flow) noexcept {
    constexpr std::uint32_t kFlagsEnd = 14;
    if (!can_read_fields(cursor, kTcpMinSize, kFlagsEnd)) {
        return header_missing(cursor, kTcpMinSize, &flow);
    }
    const std::uint16_t offset_and_flags = cursor.be16(12);
    const std::uint32_t header = (offset_and_flags >> 12) * 4U;
    if (header < kTcpMinSize || header > cursor.left()) {
        return Parsed::BadL4Header;
    }
    note_ports(cursor, flow);
    flow.tcp_flags = offset_and_flags & 0xFFF;
    flow.fields.add_all(kTcpFields);
    note_payload(cursor, flow, header);
    return Parsed::Ok;
}

Parsed parse_udp(Cursor& cursor, Flow& flow) noexcept {
    constexpr std::uint32_t kLengthEnd = 6;
    if (!can_read_fields(cursor, kUdpSize, kLengthEnd)) {
        return header_missing(cursor, kUdpSize, &flow);
    }
    const std::uint32_t length = cursor.be16(4);
    if (length != 0 && length < kUdpSize) {
        return Parsed::BadL4Header;
    }
    note_ports(cursor, flow);
    note_payload(cursor, flow, kUdpSize);
    if (length != 0) {
        flow.payload_len = std::min(flow.payload_len, length - kUdpSize);
    }
    return Parsed::Ok;
}

Parsed parse_icmp(Cursor& cursor, Flow& flow) noexcept {
    constexpr std::uint32_t kCodeEnd = 2;
    if (!can_read_fields(cursor, kIcmpSize, kCodeEnd)) {
        return header_missing(cursor, kIcmpSize, nullptr);
    }
    flow.icmp_type = cursor.u8(0);
    flow.icmp_code = cursor.u8(1);
    flow.fields.add(Field::IcmpType);
    flow.fields.add(Field::IcmpCode);
    note_payload(cursor, flow, kIcmpSize);
    return Parsed::Ok;
}

Parsed parse_ports_only(const Cursor& cursor, Flow& flow) noexcept {
    if (!cursor.can_read(kPortsSize)) {
        return header_missing(cursor, kPortsSize, nullptr);
    }
    note_ports(cursor, flow);
    return Parsed::Ok;
}

}  // namespace

Parsed parse_transport(Cursor& cursor, Flow& flow) noexcept {
    flow.l4_at = static_cast<std::uint16_t>(std::min<std::uint32_t>(cursor.at, 0xFFFF));
    switch (flow.proto) {
        case kProtoTcp:
            return parse_tcp(cursor, flow);
        case kProtoUdp:
            return parse_udp(cursor, flow);
        case kProtoIcmp:
            return flow.ip_version == IpVersion::V4 ? parse_icmp(cursor, flow) : Parsed::Ok;
        case kProtoIcmpv6:
            return flow.ip_version == IpVersion::V6 ? parse_icmp(cursor, flow) : Parsed::Ok;
        case kProtoSctp:
        case kProtoDccp:
        case kProtoUdpLite:
            return parse_ports_only(cursor, flow);
        default:
            return Parsed::Ok;
    }
}

}  // namespace sluice
