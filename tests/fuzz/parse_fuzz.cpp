#include "lib/packet/field_text.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/parse_columns.hpp"
#include "lib/respond/act/tag.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// Offsets point into the frame, headers stand in order, nothing costs more than the wire held.
void check_places(FrameView frame, const PacketHeaders& headers) {
    const std::size_t held = frame.bytes.size();
    require(headers.byte_units <= frame.wire_size);
    if (headers.fields.has(Field::IpSrc)) {
        require(headers.l3_at >= 14 && headers.l3_at + 20U <= held);
        require(headers.outer_l3_at >= 14 && headers.outer_l3_at <= headers.l3_at);
        require(headers.outer_version != IpVersion::None);
    }
    if (headers.fields.has(Field::L4Dport)) {
        require(headers.l4_at >= headers.l3_at + 20U && headers.l4_at + 4U <= held);
    }
    if (headers.fields.has(Field::PayloadLen)) {
        require(headers.payload_at >= headers.l4_at + 8U);
        require(headers.payload_at + headers.payload_len <= frame.wire_size);
    }
    if (headers.fields.has(Field::OuterIpSrc)) {
        require(headers.outer_l3_at + 20U <= headers.l3_at);
    }
    if (headers.fragment_around_at != 0) {
        require(headers.fields.has(Field::OuterIpSrc));
        require(headers.fragment_around_at >= headers.outer_l3_at);
        require(headers.fragment_around_at + 20U <= headers.l3_at);
    }
}

// The readers take every field that is there, and only numbers that rules can compare with.
void check_fields(FrameView frame, const PacketHeaders& headers) {
    for (const FieldRow& row : kFields) {
        const std::string text = field_text(row.field, headers, frame.bytes, "lab");
        require(text.empty() == !headers.fields.has(row.field));
        if (!headers.fields.has(row.field)) {
            continue;
        }
        if (row.kind == FieldKind::Address) {
            const VersionedAddress address = read_address(row.field, headers, frame.bytes);
            require(parse_address(text) == address);
        } else {
            require(read_number(row.field, headers, frame.bytes) <= row.max);
        }
    }
}

// One's complement sum of the outer IPv4 header; 0xFFFF when its checksum is right.
std::uint32_t header_sum(ByteView frame, const PacketHeaders& headers) {
    const std::size_t size = (load_u8(frame, headers.outer_l3_at) & 0xFU) * 4U;
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < size && headers.outer_l3_at + at + 2 <= frame.size(); at += 2) {
        sum += load_be16(frame, headers.outer_l3_at + at);
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

// A tag changes nothing that is parsed but the DSCP, and keeps a right checksum right.
void check_tag(FrameView frame, const Tunnels& tunnels, const PacketHeaders& headers) {
    std::vector<std::byte> copy{frame.bytes.begin(), frame.bytes.end()};
    const bool v4 = headers.outer_version == IpVersion::V4;
    if (v4) {
        const std::size_t at = headers.outer_l3_at + kIpv4ChecksumAt;
        store_be16(copy, at, 0);
        store_be16(copy, at, static_cast<std::uint16_t>(~header_sum(copy, headers)));
        require(header_sum(copy, headers) == 0xFFFF);
    }
    tag_frame(copy, headers, std::uint8_t{46}, std::uint8_t{5});
    require(!v4 || header_sum(copy, headers) == 0xFFFF);
    PacketHeaders again;
    parse_frame({copy, frame.wire_size}, tunnels, again);
    require(again.parsed == headers.parsed);
    for (const FieldRow& row : kFields) {
        const bool outermost = row.field == Field::IpDscp && headers.l3_at == headers.outer_l3_at;
        const std::string now = field_text(row.field, again, copy, "");
        require(now == (outermost && headers.fields.has(row.field)
                            ? "46"
                            : field_text(row.field, headers, frame.bytes, "")));
    }
}

// One row of a burst in columns has the facts that parse_frame() gives.
void check_row(const HeaderColumns& columns, std::size_t row, FrameView frame,
               const ParseOptions& options) {
    PacketHeaders headers;
    if (parse_frame(frame, options.tunnels, headers) == Parsed::Cut && !options.captured) {
        headers.parsed = Parsed::TooDeep;
    }
    require(columns.parsed[row] == headers.parsed);
    require(has_row(columns.malformed, row) == is_malformed(headers.parsed));
    require(columns.byte_units[row] == headers.byte_units);
    require(has_row(columns.v6, row) == (headers.ip_version == IpVersion::V6));
    require(!headers.fields.has(Field::PayloadLen) ||
            columns.payload_at[row] == headers.payload_at);
    require(columns.headers(row).fields == headers.fields);
    for (const FieldRow& field : kFields) {
        require(has_row(columns.present_rows(field.field), row) == headers.fields.has(field.field));
        if (!headers.fields.has(field.field)) {
            continue;
        }
        if (field.kind == FieldKind::Address) {
            require(columns.address(field.field, row) ==
                    read_address(field.field, headers, frame.bytes));
        } else {
            RowNumbers numbers{};
            require(columns.gather(field.field, row_bit(row), numbers) == row_bit(row));
            require(numbers[row] == read_number(field.field, headers, frame.bytes));
        }
    }
}

// A burst of the frame and of copies of it, each with some bytes of its own: of another length, or
// with one byte changed, as the input says. Each copy is a buffer of its own size.
void check_columns(ByteView whole, std::uint8_t seed, const ParseOptions& options) {
    static const auto columns = std::make_unique<HeaderColumns>();
    const std::size_t count = seed % kMaxBurst + 1;
    std::array<std::vector<std::byte>, kMaxBurst> copies;
    FrameColumns frames;
    for (std::size_t row = 0; row < count; ++row) {
        std::vector<std::byte>& copy = copies[row];
        const std::size_t mixed = row * 37U + seed;
        const std::size_t size = row % 3 == 1 ? whole.size() * (mixed % 256) / 256 : whole.size();
        copy.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        if (row % 3 == 2 && !copy.empty()) {
            copy[mixed % std::min<std::size_t>(copy.size(), 80)] ^= static_cast<std::byte>(mixed);
        }
        frames.add(copy, static_cast<std::uint32_t>(row % 5 == 4 ? whole.size() : copy.size()));
    }
    parse_columns(frames, options, *columns);
    require(columns->rows() == first_rows(count));
    for (std::size_t row = 0; row < count; ++row) {
        check_row(*columns, row, frames.frame(row), options);
    }
}

void check(FrameView frame, const Tunnels& tunnels) {
    PacketHeaders headers;
    const Parsed parsed = parse_frame(frame, tunnels, headers);
    require(parsed == headers.parsed);
    require(parsed != Parsed::Cut || frame.wire_size > frame.bytes.size());
    check_places(frame, headers);
    check_fields(frame, headers);
    check_tag(frame, tunnels, headers);
}

constexpr std::uint16_t kOtherPort = 8472;

}  // namespace

// The first byte chooses the tunnels, the second how much of the frame was captured. Each view is
// of a buffer of its own size, so that a read beyond it is seen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const Tunnels tunnels{
        .gre = (data[0] & 1) != 0,
        .vxlan = (data[0] & 2) != 0,
        .ipip = (data[0] & 4) != 0,
        .geneve = (data[0] & 16) != 0,
        .gtpu = (data[0] & 32) != 0,
        .others = {{{(data[0] & 64) != 0 ? kOtherPort : std::uint16_t{0}, UdpTunnel::Vxlan}}}};
    const ByteView whole = std::as_bytes(std::span{data + 2, size - 2});
    const auto wire = static_cast<std::uint32_t>(whole.size());
    check({whole, wire}, tunnels);
    check({whole, wire + data[1] * 8U}, tunnels);
    const ByteView head = whole.first(whole.size() * data[1] / 256);
    const std::vector<std::byte> held{head.begin(), head.end()};
    check({held, wire}, tunnels);
    check_columns(whole, data[1], {.tunnels = tunnels, .captured = (data[0] & 8) != 0});
    return 0;
}
