#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// Where the number of a field stands in a PacketHeaders: in which 64-bit word of it, how far up,
// under which mask. So that one line of code reads any of them, without a branch.
struct FieldPlace {
    std::uint8_t word = 0;
    std::uint8_t shift = 0;
    std::uint64_t mask = 0;  // 0: it stands somewhere else

    [[nodiscard]] std::uint64_t read(const PacketHeaders& headers) const noexcept {
        std::uint64_t value = 0;
        std::memcpy(&value, reinterpret_cast<const std::byte*>(&headers) + word * sizeof(value),
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
    const std::size_t offset = offsetof(PacketHeaders, tcp_flags);
    return {static_cast<std::uint8_t>(offset / 8), static_cast<std::uint8_t>(offset % 8 * 8 + bit),
            1};
}

// Of a field that comes from a database.
[[nodiscard]] constexpr FieldPlace of_origin(Field field) noexcept {
    constexpr PacketHeaders kHeaders;
    switch (field) {
        case Field::IpSrcCountry:
            return whole(offsetof(PacketHeaders, src_country), kHeaders.src_country);
        case Field::IpDstCountry:
            return whole(offsetof(PacketHeaders, dst_country), kHeaders.dst_country);
        case Field::IpSrcAsn:
            return whole(offsetof(PacketHeaders, src_asn), kHeaders.src_asn);
        case Field::IpDstAsn:
            return whole(offsetof(PacketHeaders, dst_asn), kHeaders.dst_asn);
        default:
            return {};
    }
}

}  // namespace field_place

[[nodiscard]] constexpr FieldPlace place_of(Field field) noexcept {
    constexpr PacketHeaders kHeaders;
    using field_place::flag;
    using field_place::whole;
    switch (field) {
        case Field::Dir:
            return whole(offsetof(PacketHeaders, dir), kHeaders.dir);
        case Field::Port:
            return whole(offsetof(PacketHeaders, port), kHeaders.port);
        case Field::EthType:
            return whole(offsetof(PacketHeaders, eth_type), kHeaders.eth_type);
        case Field::VlanId:
            return whole(offsetof(PacketHeaders, vlan_id), kHeaders.vlan_id);
        case Field::VlanInnerId:
            return whole(offsetof(PacketHeaders, vlan_inner_id), kHeaders.vlan_inner_id);
        case Field::IpVersion:
            return whole(offsetof(PacketHeaders, ip_version), kHeaders.ip_version);
        case Field::IpProto:
            return whole(offsetof(PacketHeaders, proto), kHeaders.proto);
        case Field::IpTtl:
            return whole(offsetof(PacketHeaders, ttl), kHeaders.ttl);
        case Field::IpDscp:
            return whole(offsetof(PacketHeaders, dscp), kHeaders.dscp);
        case Field::IpLen:
            return whole(offsetof(PacketHeaders, ip_len), kHeaders.ip_len);
        case Field::IpFrag:
            return whole(offsetof(PacketHeaders, frag), kHeaders.frag);
        case Field::L4Sport:
            return whole(offsetof(PacketHeaders, sport), kHeaders.sport);
        case Field::L4Dport:
            return whole(offsetof(PacketHeaders, dport), kHeaders.dport);
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
            return whole(offsetof(PacketHeaders, tcp_flags), kHeaders.tcp_flags);
        case Field::IcmpType:
            return whole(offsetof(PacketHeaders, icmp_type), kHeaders.icmp_type);
        case Field::IcmpCode:
            return whole(offsetof(PacketHeaders, icmp_code), kHeaders.icmp_code);
        case Field::PayloadLen:
            return whole(offsetof(PacketHeaders, payload_len), kHeaders.payload_len);
        default:
            return field_place::of_origin(field);  // or addresses, and what stands in the frame
    }
}

}  // namespace sluice
