#pragma once
#include "lib/packet/country.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Everything a rule can test or group by, in one table: what the parser finds, and country and ASN,
// which lib/match/geo_table adds where a database has them.
// How to add one: a row here, a value in PacketHeaders, a line in read_number() or read_address().
enum class Field : std::uint8_t {
    Dir,
    Port,
    EthSrc,
    EthDst,
    EthType,
    VlanId,
    VlanInnerId,
    IpVersion,
    IpSrc,
    IpDst,
    IpProto,
    IpTtl,
    IpDscp,
    IpLen,
    IpFrag,
    OuterIpSrc,
    OuterIpDst,
    IpSrcCountry,
    IpDstCountry,
    IpSrcAsn,
    IpDstAsn,
    L4Sport,
    L4Dport,
    TcpSyn,
    TcpAck,
    TcpFin,
    TcpRst,
    TcpPsh,
    TcpUrg,
    TcpFlags,
    IcmpType,
    IcmpCode,
    PayloadLen,
    ClientIp,  // as it came: ip.src. What client_ip makes of it: client_address.hpp
    // The same where a header names clients: what stands there in a request of a trusted proxy, and
    // absent from what else comes from one.
    ProxiedClient,
};

// The kind of a field's value, for the type checks of the rule language.
enum class FieldKind : std::uint8_t {
    Number,   // decimal; `max` bounds what can be compared with it
    Flag,     // 0 or 1; alone it is a condition
    Address,  // IPv4 or IPv6
    Mac,      // 48 bits, aa:bb:cc:dd:ee:ff
    Name,     // one of a few words ("in", "first"), or the pair's name
    Country,  // two letters, see country.hpp
};

struct FieldRow {
    Field field;
    std::string_view name;
    FieldKind kind;
    std::uint64_t max;  // largest value of a number
};

inline constexpr auto kFields = std::to_array<FieldRow>({
    {Field::Dir, "dir", FieldKind::Name, 1},
    {Field::Port, "port", FieldKind::Name, UINT64_MAX},
    {Field::EthSrc, "eth.src", FieldKind::Mac, 0xFFFF'FFFF'FFFF},
    {Field::EthDst, "eth.dst", FieldKind::Mac, 0xFFFF'FFFF'FFFF},
    {Field::EthType, "eth.type", FieldKind::Number, 0xFFFF},
    {Field::VlanId, "vlan.id", FieldKind::Number, 0xFFF},
    {Field::VlanInnerId, "vlan.inner_id", FieldKind::Number, 0xFFF},
    {Field::IpVersion, "ip.version", FieldKind::Number, 15},
    {Field::IpSrc, "ip.src", FieldKind::Address, 0},
    {Field::IpDst, "ip.dst", FieldKind::Address, 0},
    {Field::IpProto, "ip.proto", FieldKind::Number, 0xFF},
    {Field::IpTtl, "ip.ttl", FieldKind::Number, 0xFF},
    {Field::IpDscp, "ip.dscp", FieldKind::Number, 63},
    {Field::IpLen, "ip.len", FieldKind::Number, 0x1'0027},
    {Field::IpFrag, "ip.frag", FieldKind::Name, 2},
    {Field::OuterIpSrc, "outer.ip.src", FieldKind::Address, 0},
    {Field::OuterIpDst, "outer.ip.dst", FieldKind::Address, 0},
    {Field::IpSrcCountry, "ip.src.country", FieldKind::Country, kMaxCountry},
    {Field::IpDstCountry, "ip.dst.country", FieldKind::Country, kMaxCountry},
    {Field::IpSrcAsn, "ip.src.asn", FieldKind::Number, 0xFFFF'FFFF},
    {Field::IpDstAsn, "ip.dst.asn", FieldKind::Number, 0xFFFF'FFFF},
    {Field::L4Sport, "l4.sport", FieldKind::Number, 0xFFFF},
    {Field::L4Dport, "l4.dport", FieldKind::Number, 0xFFFF},
    {Field::TcpSyn, "tcp.flags.syn", FieldKind::Flag, 1},
    {Field::TcpAck, "tcp.flags.ack", FieldKind::Flag, 1},
    {Field::TcpFin, "tcp.flags.fin", FieldKind::Flag, 1},
    {Field::TcpRst, "tcp.flags.rst", FieldKind::Flag, 1},
    {Field::TcpPsh, "tcp.flags.psh", FieldKind::Flag, 1},
    {Field::TcpUrg, "tcp.flags.urg", FieldKind::Flag, 1},
    {Field::TcpFlags, "tcp.flags", FieldKind::Number, 0xFFF},
    {Field::IcmpType, "icmp.type", FieldKind::Number, 0xFF},
    {Field::IcmpCode, "icmp.code", FieldKind::Number, 0xFF},
    {Field::PayloadLen, "payload.len", FieldKind::Number, 0xFFFF'FFFF},
    {Field::ClientIp, "client.ip", FieldKind::Address, 0},
    {Field::ProxiedClient, "client.ip", FieldKind::Address, 0},
});
inline constexpr std::size_t kFieldCount = kFields.size();

// Words a Name field takes, in the order of their numbers. `port` takes any name (see port_name()).
inline constexpr auto kDirWords = std::to_array<std::string_view>({"in", "out"});
inline constexpr auto kFragWords = std::to_array<std::string_view>({"none", "first", "later"});

constexpr bool fields_in_enum_order() noexcept {
    for (std::size_t i = 0; i < kFields.size(); ++i) {
        if (static_cast<std::size_t>(kFields[i].field) != i) {
            return false;
        }
    }
    return true;
}
static_assert(fields_in_enum_order(), "kFields is indexed by Field");
static_assert(kFieldCount < 64, "FieldSet is one word, and has a bit to spare");

[[nodiscard]] constexpr const FieldRow& row_of(Field field) noexcept {
    return kFields[static_cast<std::size_t>(field)];
}

// True if a field's value comes from a database that the rule file names, not from the frame.
[[nodiscard]] constexpr bool is_from_database(Field field) noexcept {
    return field >= Field::IpSrcCountry && field <= Field::IpDstAsn;
}

// One name for both: which of them it is, `client_ip` of the rule file says.
[[nodiscard]] constexpr bool is_client(Field field) noexcept {
    return field == Field::ClientIp || field == Field::ProxiedClient;
}

// The fields that a packet has.
class FieldSet {
public:
    constexpr void add(Field field) noexcept { bits_ |= bit(field); }
    constexpr void remove(Field field) noexcept { bits_ &= ~bit(field); }
    [[nodiscard]] constexpr bool has(Field field) const noexcept {
        return (bits_ & bit(field)) != 0;
    }
    constexpr void add_all(FieldSet other) noexcept { bits_ |= other.bits_; }
    [[nodiscard]] constexpr bool operator==(const FieldSet&) const noexcept = default;

private:
    [[nodiscard]] static constexpr std::uint64_t bit(Field field) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(field);
    }
    std::uint64_t bits_{0};
};

// The number that stands for a pair's name in PacketHeaders and in rules: FNV-1a, 64 bit. Names are
// chosen by the operator, so collisions are not provoked.
[[nodiscard]] constexpr std::uint64_t port_name(std::string_view name) noexcept {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return hash;
}

}  // namespace sluice
