#pragma once
#include "lib/packet/flow.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// Where the number of a field stands in a Flow: in which 64-bit word of it, how far up, under which
// mask. So that one line of code reads any of them, without a branch.
struct FieldPlace {
    std::uint8_t word = 0;
    std::uint8_t shift = 0;
    std::uint64_t mask = 0;  // 0: it stands somewhere else

    [[nodiscard]] std::uint64_t read(const Flow& flow) const noexcept {
        std::uint64_t value = 0;
        std::memcpy(&value, reinterpret_cast<const std::byte*>(&flow) + word * sizeof(value),
                    sizeof(value));
        return (value >> shift) & mask;
    }
};

namespace field_place {

template <typename Member>
[[nodiscard]] constexpr FieldPlace whole(std::size_t offset, Member /*of the flow*/) noexcept {
    constexpr unsigned kBits = 8 * sizeof(Member);
    return {static_cast<std::uint8_t>(offset / 8), static_cast<std::uint8_t>(offset % 8 * 8),
            ~std::uint64_t{0} >> (64 - kBits)};
}

[[nodiscard]] constexpr FieldPlace flag(unsigned bit) noexcept {
    const std::size_t offset = offsetof(Flow, tcp_flags);
    return {static_cast<std::uint8_t>(offset / 8), static_cast<std::uint8_t>(offset % 8 * 8 + bit),
            1};
}

// Of a field that comes from a database.
[[nodiscard]] constexpr FieldPlace of_origin(Field field) noexcept {
    constexpr Flow kFlow;
    switch (field) {
        case Field::IpSrcCountry:
            return whole(offsetof(Flow, src_country), kFlow.src_country);
        case Field::IpDstCountry:
            return whole(offsetof(Flow, dst_country), kFlow.dst_country);
        case Field::IpSrcAsn:
            return whole(offsetof(Flow, src_asn), kFlow.src_asn);
        case Field::IpDstAsn:
            return whole(offsetof(Flow, dst_asn), kFlow.dst_asn);
        default:
            return {};
    }
}

}  // namespace field_place

[[nodiscard]] constexpr FieldPlace place_of(Field field) noexcept {
    constexpr Flow kFlow;
    using field_place::flag;
    using field_place::whole;
    switch (field) {
        case Field::Dir:
            return whole(offsetof(Flow, dir), kFlow.dir);
        case Field::Port:
            return whole(offsetof(Flow, port), kFlow.port);
        case Field::EthType:
            return whole(offsetof(Flow, eth_type), kFlow.eth_type);
        case Field::VlanId:
            return whole(offsetof(Flow, vlan_id), kFlow.vlan_id);
        case Field::VlanInnerId:
            return whole(offsetof(Flow, vlan_inner_id), kFlow.vlan_inner_id);
        case Field::IpVersion:
            return whole(offsetof(Flow, ip_version), kFlow.ip_version);
        case Field::IpProto:
            return whole(offsetof(Flow, proto), kFlow.proto);
        case Field::IpTtl:
            return whole(offsetof(Flow, ttl), kFlow.ttl);
        case Field::IpDscp:
            return whole(offsetof(Flow, dscp), kFlow.dscp);
        case Field::IpLen:
            return whole(offsetof(Flow, ip_len), kFlow.ip_len);
        case Field::IpFrag:
            return whole(offsetof(Flow, frag), kFlow.frag);
        case Field::L4Sport:
            return whole(offsetof(Flow, sport), kFlow.sport);
        case Field::L4Dport:
            return whole(offsetof(Flow, dport), kFlow.dport);
        case Field::TcpFin:
            return flag(0);
        case Field::TcpSyn:
            return flag(1);
        case Field::TcpRst:
            return flag(2);
        case Field::TcpPsh:
            return flag(3);
        case Field::TcpAck:
            return flag(4);
        case Field::TcpUrg:
            return flag(5);
        case Field::TcpFlags:
            return whole(offsetof(Flow, tcp_flags), kFlow.tcp_flags);
        case Field::IcmpType:
            return whole(offsetof(Flow, icmp_type), kFlow.icmp_type);
        case Field::IcmpCode:
            return whole(offsetof(Flow, icmp_code), kFlow.icmp_code);
        case Field::PayloadLen:
            return whole(offsetof(Flow, payload_len), kFlow.payload_len);
        default:
            return field_place::of_origin(field);  // or addresses, and what stands in the frame
    }
}

}  // namespace sluice
