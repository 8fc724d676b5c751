#include "lib/packet/header_columns.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/field_column.hpp"

#include <cstddef>
#include <cstring>

namespace sluice {
namespace {

// What frames of the common shape have, without parsing them again.
std::uint64_t read_common(Field field, IpVersion version, const PacketHeaders& none,
                          ByteView frame) noexcept {
    return field == Field::EthType ? (version == IpVersion::V4 ? kTypeIpv4 : kTypeIpv6)
                                   : read_number(field, none, frame);
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

Parsed HeaderColumns::walk(std::size_t row) const noexcept {
    PacketHeaders& headers = flows_[row];
    headers.dir = dir[row];
    headers.port = port[row];
    walked_ |= row_bit(row);
    const FrameView frame = frames_->frame(row);
    return has_row(common, row) ? parse_frame(frame, tunnels_, headers)
                                : walk_frame(frame, tunnels_, headers);
}

const PacketHeaders& HeaderColumns::headers(std::size_t row) const noexcept {
    if (!has_row(walked_, row)) {
        walk(row);
    }
    const RowMask origins = present_rows(HeaderPart::SrcCountry) |
                            present_rows(HeaderPart::DstCountry) |
                            present_rows(HeaderPart::SrcAsn) | present_rows(HeaderPart::DstAsn);
    if (has_row(origins, row)) {
        add_origins(row, flows_[row]);
    }
    return flows_[row];
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
    const bool source = field != Field::IpDst;
    if (has_row(v6, row)) {
        return {IpVersion::V6, (source ? src6 : dst6)[row]};
    }
    VersionedAddress address{IpVersion::V4, {}};
    std::memcpy(address.address.bytes.data(), &(source ? src : dst)[row], sizeof(src[row]));
    return address;
}

}  // namespace sluice
