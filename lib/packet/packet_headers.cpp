#include "lib/packet/packet_headers.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/header_part.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/text_field.hpp"

#include <cstring>

namespace sluice {
namespace {

std::uint64_t load_mac(ByteView frame, std::size_t at) noexcept {
    return (std::uint64_t{load_be16(frame, at)} << 32) | load_be32(frame, at + 2);
}

std::uint64_t flag(const PacketHeaders& headers, unsigned bit) noexcept {
    return (headers.tcp_flags >> bit) & 1U;
}

IpAddress load_address(ByteView frame, std::size_t at, std::size_t size) noexcept {
    IpAddress address;
    std::memcpy(address.bytes.data(), frame.data() + at, size);
    return address;
}

VersionedAddress read_outer(const PacketHeaders& headers, ByteView frame, bool source) noexcept {
    const std::size_t at = headers.outer_l3_at;
    if (headers.outer_version == IpVersion::V4) {
        return {IpVersion::V4, load_address(frame, at + (source ? kIpv4SrcAt : kIpv4DstAt), 4)};
    }
    return {IpVersion::V6, load_address(frame, at + (source ? kIpv6SrcAt : kIpv6DstAt), 16)};
}

// The values that only one group of packets has; read_number() keeps the common ones.
std::uint64_t read_rare_number(Field field, const PacketHeaders& headers, ByteView frame) noexcept {
    switch (field) {
        case Field::Dir:
            return static_cast<std::uint64_t>(headers.dir);
        case Field::Port:
            return headers.port;
        case Field::EthSrc:
            return load_mac(frame, kEthernetSrcAt);
        case Field::EthDst:
            return load_mac(frame, kEthernetDstAt);
        case Field::EthType:
            return headers.eth_type;
        case Field::VlanId:
            return headers.vlan_id;
        case Field::VlanInnerId:
            return headers.vlan_inner_id;
        case Field::IcmpType:
            return headers.icmp_type;
        case Field::IcmpCode:
            return headers.icmp_code;
        case Field::IpFrag:
            return static_cast<std::uint64_t>(headers.frag);
        case Field::IpSrcCountry:
            return headers.src_country;
        case Field::IpDstCountry:
            return headers.dst_country;
        case Field::IpSrcAsn:
            return headers.src_asn;
        case Field::IpDstAsn:
            return headers.dst_asn;
        default:
            return 0;
    }
}

std::uint64_t read_tcp_flag(Field field, const PacketHeaders& headers) noexcept {
    switch (field) {
        case Field::TcpFin:
            return flag(headers, 0);
        case Field::TcpSyn:
            return flag(headers, 1);
        case Field::TcpRst:
            return flag(headers, 2);
        case Field::TcpPsh:
            return flag(headers, 3);
        case Field::TcpAck:
            return flag(headers, 4);
        case Field::TcpUrg:
            return flag(headers, 5);
        default:
            return headers.tcp_flags;
    }
}

}  // namespace

std::uint64_t read_number(Field field, const PacketHeaders& headers, ByteView frame) noexcept {
    switch (field) {
        case Field::IpVersion:
            return static_cast<std::uint64_t>(headers.ip_version);
        case Field::IpProto:
            return headers.proto;
        case Field::IpTtl:
            return headers.ttl;
        case Field::IpDscp:
            return headers.dscp;
        case Field::IpLen:
            return headers.ip_len;
        case Field::L4Sport:
            return headers.sport;
        case Field::L4Dport:
            return headers.dport;
        case Field::PayloadLen:
            return headers.payload_len;
        default:
            return part_of(field) == HeaderPart::Tcp ? read_tcp_flag(field, headers)
                                                     : read_rare_number(field, headers, frame);
    }
}

VersionedAddress read_address(Field field, const PacketHeaders& headers, ByteView frame) noexcept {
    switch (field) {
        case Field::IpSrc:
        case Field::ClientIp:
            return {headers.ip_version, headers.src};
        case Field::IpDst:
            return {headers.ip_version, headers.dst};
        case Field::ProxiedClient:
            return headers.unit != nullptr && headers.unit->has_client()
                       ? headers.unit->client()
                       : VersionedAddress{headers.ip_version, headers.src};
        default:
            return read_outer(headers, frame, field == Field::OuterIpSrc);
    }
}

}  // namespace sluice
