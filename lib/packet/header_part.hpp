#pragma once
#include "lib/packet/field.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Fields that a packet has all together or not at all. One presence mask per part holds the rows of
// a burst that have its fields.
enum class HeaderPart : std::uint8_t {
    Frame,       // dir: every row
    Port,        // port, where the pair has a name
    Ethernet,    // eth.src, eth.dst
    EtherType,   // eth.type
    Vlan,        // vlan.id
    InnerVlan,   // vlan.inner_id
    Ip,          // addresses, version, TTL, DSCP, length, client.ip
    IpProto,     // ip.proto, ip.frag
    OuterIp,     // outer.ip.src, outer.ip.dst
    SrcCountry,  // the origins come from a database, one by one
    DstCountry,
    SrcAsn,
    DstAsn,
    Ports,    // l4.sport, l4.dport
    Tcp,      // the flags, as one number and one by one
    Icmp,     // icmp.type, icmp.code
    Payload,  // payload.len
    Client,   // client.ip where a header names clients
};
inline constexpr std::size_t kHeaderPartCount = 18;

[[nodiscard]] constexpr HeaderPart part_of(Field field) noexcept {
    switch (field) {
        case Field::Dir:
            return HeaderPart::Frame;
        case Field::Port:
            return HeaderPart::Port;
        case Field::EthSrc:
        case Field::EthDst:
            return HeaderPart::Ethernet;
        case Field::EthType:
            return HeaderPart::EtherType;
        case Field::VlanId:
            return HeaderPart::Vlan;
        case Field::VlanInnerId:
            return HeaderPart::InnerVlan;
        case Field::IpProto:
        case Field::IpFrag:
            return HeaderPart::IpProto;
        case Field::OuterIpSrc:
        case Field::OuterIpDst:
            return HeaderPart::OuterIp;
        case Field::IpSrcCountry:
            return HeaderPart::SrcCountry;
        case Field::IpDstCountry:
            return HeaderPart::DstCountry;
        case Field::IpSrcAsn:
            return HeaderPart::SrcAsn;
        case Field::IpDstAsn:
            return HeaderPart::DstAsn;
        case Field::L4Sport:
        case Field::L4Dport:
            return HeaderPart::Ports;
        case Field::TcpSyn:
        case Field::TcpAck:
        case Field::TcpFin:
        case Field::TcpRst:
        case Field::TcpPsh:
        case Field::TcpUrg:
        case Field::TcpFlags:
            return HeaderPart::Tcp;
        case Field::IcmpType:
        case Field::IcmpCode:
            return HeaderPart::Icmp;
        case Field::PayloadLen:
            return HeaderPart::Payload;
        case Field::ProxiedClient:
            return HeaderPart::Client;
        default:
            return HeaderPart::Ip;
    }
}

// The bit of tcp.flags that a Flag field is; 0: it is none.
[[nodiscard]] constexpr std::uint16_t tcp_flag(Field field) noexcept {
    switch (field) {
        case Field::TcpFin:
            return 1U << 0;
        case Field::TcpSyn:
            return 1U << 1;
        case Field::TcpRst:
            return 1U << 2;
        case Field::TcpPsh:
            return 1U << 3;
        case Field::TcpAck:
            return 1U << 4;
        case Field::TcpUrg:
            return 1U << 5;
        default:
            return 0;
    }
}

// By part: its first field, which stands for all of it.
inline constexpr auto kPartFields = [] {
    std::array<Field, kHeaderPartCount> fields{};
    for (std::size_t i = kFieldCount; i-- > 0;) {
        fields[static_cast<std::size_t>(part_of(kFields[i].field))] = kFields[i].field;
    }
    return fields;
}();
static_assert(std::is_sorted(kPartFields.begin(), kPartFields.end()), "parts are in field order");

// The parts that every frame of the common shape has.
inline constexpr auto kCommonParts = std::to_array<HeaderPart>(
    {HeaderPart::Frame, HeaderPart::Ethernet, HeaderPart::EtherType, HeaderPart::Ip,
     HeaderPart::IpProto, HeaderPart::Ports, HeaderPart::Payload});

}  // namespace sluice
