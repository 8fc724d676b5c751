#include "lib/packet/flow.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"

#include <cstring>

namespace sluice {
namespace {

std::uint64_t load_mac(ByteView frame, std::size_t at) noexcept {
    return (std::uint64_t{load_be16(frame, at)} << 32) | load_be32(frame, at + 2);
}

std::uint64_t flag(const Flow& flow, unsigned bit) noexcept {
    return (flow.tcp_flags >> bit) & 1U;
}

IpAddress load_address(ByteView frame, std::size_t at, std::size_t size) noexcept {
    IpAddress address;
    std::memcpy(address.bytes.data(), frame.data() + at, size);
    return address;
}

VersionedAddress read_outer(const Flow& flow, ByteView frame, bool source) noexcept {
    const std::size_t at = flow.outer_l3_at;
    if (flow.outer_version == IpVersion::V4) {
        return {IpVersion::V4, load_address(frame, at + (source ? kIpv4SrcAt : kIpv4DstAt), 4)};
    }
    return {IpVersion::V6, load_address(frame, at + (source ? kIpv6SrcAt : kIpv6DstAt), 16)};
}

// The values that only one group of packets has; read_number() keeps the common ones.
std::uint64_t read_rare_number(Field field, const Flow& flow, ByteView frame) noexcept {
    switch (field) {
        case Field::Dir:
            return static_cast<std::uint64_t>(flow.dir);
        case Field::Port:
            return flow.port;
        case Field::EthSrc:
            return load_mac(frame, kEthernetSrcAt);
        case Field::EthDst:
            return load_mac(frame, kEthernetDstAt);
        case Field::EthType:
            return flow.eth_type;
        case Field::VlanId:
            return flow.vlan_id;
        case Field::VlanInnerId:
            return flow.vlan_inner_id;
        case Field::IcmpType:
            return flow.icmp_type;
        case Field::IcmpCode:
            return flow.icmp_code;
        case Field::IpFrag:
            return static_cast<std::uint64_t>(flow.frag);
        case Field::IpSrcCountry:
            return flow.src_country;
        case Field::IpDstCountry:
            return flow.dst_country;
        case Field::IpSrcAsn:
            return flow.src_asn;
        case Field::IpDstAsn:
            return flow.dst_asn;
        default:
            return 0;
    }
}

std::uint64_t read_tcp_flag(Field field, const Flow& flow) noexcept {
    switch (field) {
        case Field::TcpFin:
            return flag(flow, 0);
        case Field::TcpSyn:
            return flag(flow, 1);
        case Field::TcpRst:
            return flag(flow, 2);
        case Field::TcpPsh:
            return flag(flow, 3);
        case Field::TcpAck:
            return flag(flow, 4);
        case Field::TcpUrg:
            return flag(flow, 5);
        default:
            return flow.tcp_flags;
    }
}

}  // namespace

std::uint64_t read_number(Field field, const Flow& flow, ByteView frame) noexcept {
    switch (field) {
        case Field::IpVersion:
            return static_cast<std::uint64_t>(flow.ip_version);
        case Field::IpProto:
            return flow.proto;
        case Field::IpTtl:
            return flow.ttl;
        case Field::IpDscp:
            return flow.dscp;
        case Field::IpLen:
            return flow.ip_len;
        case Field::L4Sport:
            return flow.sport;
        case Field::L4Dport:
            return flow.dport;
        case Field::PayloadLen:
            return flow.payload_len;
        case Field::TcpSyn:
        case Field::TcpAck:
        case Field::TcpFin:
        case Field::TcpRst:
        case Field::TcpPsh:
        case Field::TcpUrg:
        case Field::TcpFlags:
            return read_tcp_flag(field, flow);
        default:
            return read_rare_number(field, flow, frame);
    }
}

VersionedAddress read_address(Field field, const Flow& flow, ByteView frame) noexcept {
    switch (field) {
        case Field::IpSrc:
        case Field::ClientIp:
            return {flow.ip_version, flow.src};
        case Field::IpDst:
            return {flow.ip_version, flow.dst};
        default:
            return read_outer(flow, frame, field == Field::OuterIpSrc);
    }
}

}  // namespace sluice
