#include "lib/packet/header_columns.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/field_column.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/transport.hpp"

#include <cstddef>
#include <cstring>

namespace sluice {
namespace {

// Reads a field of a frame of the common shape, without parsing it again.
std::uint64_t read_common(Field field, IpVersion version, const PacketHeaders& none,
                          ByteView frame) noexcept {
    return field == Field::EthType ? (version == IpVersion::V4 ? kTypeIpv4 : kTypeIpv6)
                                   : read_number(field, none, frame);
}

// The fields of a part.
constexpr FieldSet fields_of(HeaderPart part) {
    FieldSet fields;
    for (const FieldRow& row : kFields) {
        if (part_of(row.field) == part) {
            fields.add(row.field);
        }
    }
    return fields;
}

constexpr FieldSet kPortPart = fields_of(HeaderPart::Port);
constexpr FieldSet kVlanPart = fields_of(HeaderPart::Vlan);
constexpr FieldSet kPortsPart = fields_of(HeaderPart::Ports);
constexpr FieldSet kTcpPart = fields_of(HeaderPart::Tcp);
constexpr FieldSet kCommonFields = [] {
    FieldSet fields;
    for (const HeaderPart part : kCommonParts) {
        fields.add_all(fields_of(part));
    }
    return fields;
}();

// Both addresses of a row, into headers that have none yet.
void copy_addresses(const HeaderColumns& columns, std::size_t row, PacketHeaders& made) noexcept {
    if (has_row(columns.v6, row)) {
        made.src = columns.src6[row];
        made.dst = columns.dst6[row];
        return;
    }
    std::memcpy(made.src.bytes.data(), &columns.src[row], sizeof(columns.src[row]));
    std::memcpy(made.dst.bytes.data(), &columns.dst[row], sizeof(columns.dst[row]));
}

}  // namespace

void HeaderColumns::set_ingress(std::size_t row, Direction direction, std::uint64_t name) noexcept {
    dir[row] = direction;
    port[row] = name;
    named_ports_ = (named_ports_ & ~row_bit(row)) | (name != 0 ? row_bit(row) : 0);
}

void HeaderColumns::set_ingress(Direction direction, std::uint64_t name) noexcept {
    dir.fill(direction);
    port.fill(name);
    named_ports_ = name != 0 ? first_rows(kMaxBurst) : 0;
}

void HeaderColumns::set_unit(std::size_t row, const UnitTexts& texts) noexcept {
    units_[row] = &texts;
    with_unit_ |= row_bit(row);
    if (texts.has_client()) {
        add_present(HeaderPart::Client, row_bit(row));
    }
}

void HeaderColumns::set_datagram(std::size_t row, std::uint16_t from, std::uint16_t to) noexcept {
    (void)headers(row);
    PacketHeaders& made = made_headers_[row];
    made.proto = proto[row] = kProtoUdp;
    made.sport = sport[row] = from;
    made.dport = dport[row] = to;
    made.fields.add_all(kPortsPart);
    add_present(HeaderPart::Ports, row_bit(row));
}

// The headers of a frame of the common shape.
void HeaderColumns::collect(std::size_t row) const noexcept {
    const bool is_v6 = has_row(v6, row);
    const bool is_tagged = has_row(present_rows(HeaderPart::Vlan), row);
    const auto l3_at = static_cast<std::uint16_t>(kEthernetSize + (is_tagged ? kVlanTagSize : 0));
    PacketHeaders& made = made_headers_[row];
    made = {};
    copy_addresses(*this, row, made);
    made.port = port[row];
    made.l3_at = made.outer_l3_at = l3_at;
    made.l4_at = static_cast<std::uint16_t>(l3_at + (is_v6 ? kIpv6Size : kIpv4MinSize));
    made.payload_at = payload_at[row];
    made.eth_type = is_v6 ? kTypeIpv6 : kTypeIpv4;
    made.ip_version = made.outer_version = ip_version[row];
    made.proto = proto[row];
    made.ip_len = ip_len[row];
    made.byte_units = byte_units[row];
    made.payload_len = payload_len[row];
    made.sport = sport[row];
    made.dport = dport[row];
    made.vlan_id = is_tagged ? vlan_id[row] : std::uint16_t{0};
    made.ttl = ttl[row];
    made.dscp = dscp[row];
    made.tcp_flags = tcp_flags[row];
    made.dir = dir[row];
    made.fields = kCommonFields;
    made.fields.add_all(has_row(present_rows(HeaderPart::Port), row) ? kPortPart : FieldSet{});
    made.fields.add_all(is_tagged ? kVlanPart : FieldSet{});
    made.fields.add_all(has_row(present_rows(HeaderPart::Tcp), row) ? kTcpPart : FieldSet{});
    made_ |= row_bit(row);
}

// Parses a frame that is not IP, so that no tunnel is in it.
void HeaderColumns::walk(std::size_t row) const noexcept {
    made_headers_[row].dir = dir[row];
    made_headers_[row].port = port[row];
    (void)parse_frame(frames_->frame(row), {}, made_headers_[row]);
    made_ |= row_bit(row);
}

const PacketHeaders& HeaderColumns::headers(std::size_t row) const noexcept {
    if (!has_row(made_, row)) {
        has_row(not_ip | bad_ipv4, row) ? walk(row) : collect(row);
    }
    made_headers_[row].unit = has_row(with_unit_, row) ? units_[row] : nullptr;
    const RowMask origins = present_rows(HeaderPart::SrcCountry) |
                            present_rows(HeaderPart::DstCountry) |
                            present_rows(HeaderPart::SrcAsn) | present_rows(HeaderPart::DstAsn);
    if (has_row(origins, row)) {
        add_origins(row, made_headers_[row]);
    }
    if (has_row(present_rows(HeaderPart::Client), row)) {
        made_headers_[row].fields.add(Field::ProxiedClient);
    } else {
        made_headers_[row].fields.remove(Field::ProxiedClient);
    }
    return made_headers_[row];
}

void HeaderColumns::add_origins(std::size_t row, PacketHeaders& headers) const noexcept {
    const auto add = [&](Field field, auto& to, const auto& column) {
        if (has_row(present_rows(field), row)) {
            headers.fields.add(field);
            to = column[row];
        }
    };
    add(Field::IpSrcCountry, headers.src_country, src_country);
    add(Field::IpDstCountry, headers.dst_country, dst_country);
    add(Field::IpSrcAsn, headers.src_asn, src_asn);
    add(Field::IpDstAsn, headers.dst_asn, dst_asn);
}

RowMask HeaderColumns::gather(Field field, RowMask rows, RowNumbers& numbers) const noexcept {
    rows &= present_rows(field);
    const auto widen = [&](const auto& column) {
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            numbers[row] = static_cast<std::uint64_t>(column[row]);
        }
    };
    if (use_column(field, *this, widen)) {
        return rows;
    }
    if (const std::uint16_t flag = tcp_flag(field); flag != 0) {
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            numbers[row] = (tcp_flags[row] & flag) != 0 ? 1 : 0;
        }
        return rows;
    }
    const PacketHeaders none;
    for_each_row(rows, [&](std::size_t row) {
        const ByteView frame = frames_->frame(row).bytes;
        numbers[row] = has_row(common, row) ? read_common(field, ip_version[row], none, frame)
                                            : read_number(field, headers(row), frame);
    });
    return rows;
}

VersionedAddress HeaderColumns::address(Field field, std::size_t row) const noexcept {
    if (part_of(field) == HeaderPart::OuterIp) {
        return read_address(field, headers(row), frames_->frame(row).bytes);
    }
    if (field == Field::ProxiedClient && has_row(with_unit_, row) && units_[row]->has_client()) {
        return units_[row]->client();
    }
    const bool source = field != Field::IpDst;
    if (has_row(v6, row)) {
        return {IpVersion::V6, (source ? src6 : dst6)[row]};
    }
    VersionedAddress address{IpVersion::V4, {}};
    std::memcpy(address.address.bytes.data(), &(source ? src : dst)[row], sizeof(src[row]));
    return address;
}

}  // namespace sluice
