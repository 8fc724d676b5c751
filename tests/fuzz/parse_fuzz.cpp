#include "lib/act/tag.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/parse.hpp"

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace sluice;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

// Offsets point into the frame, headers stand in order, nothing costs more than the wire held.
void check_places(FrameView frame, const Flow& flow) {
    const std::size_t held = frame.bytes.size();
    require(flow.byte_units <= frame.wire_size);
    if (flow.fields.has(Field::IpSrc)) {
        require(flow.l3_at >= 14 && flow.l3_at + 20U <= held);
        require(flow.outer_l3_at >= 14 && flow.outer_l3_at <= flow.l3_at);
        require(flow.outer_version != IpVersion::None);
    }
    if (flow.fields.has(Field::L4Dport)) {
        require(flow.l4_at >= flow.l3_at + 20U && flow.l4_at + 4U <= held);
    }
    if (flow.fields.has(Field::PayloadLen)) {
        require(flow.payload_at >= flow.l4_at + 8U);
        require(flow.payload_at + flow.payload_len <= frame.wire_size);
    }
    if (flow.fields.has(Field::OuterIpSrc)) {
        require(flow.outer_l3_at + 20U <= flow.l3_at);
    }
}

// The readers take every field that is there, and only numbers that rules can compare with.
void check_fields(FrameView frame, const Flow& flow) {
    for (const FieldRow& row : kFields) {
        const std::string text = field_text(row.field, flow, frame.bytes, "lab");
        require(text.empty() == !flow.fields.has(row.field));
        if (!flow.fields.has(row.field)) {
            continue;
        }
        if (row.kind == FieldKind::Address) {
            const VersionedAddress address = read_address(row.field, flow, frame.bytes);
            require(parse_address(text) == address);
        } else {
            require(read_number(row.field, flow, frame.bytes) <= row.max);
        }
    }
}

// One's complement sum of the outer IPv4 header; 0xFFFF when its checksum is right.
std::uint32_t header_sum(ByteView frame, const Flow& flow) {
    const std::size_t size = (load_u8(frame, flow.outer_l3_at) & 0xFU) * 4U;
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at < size && flow.outer_l3_at + at + 2 <= frame.size(); at += 2) {
        sum += load_be16(frame, flow.outer_l3_at + at);
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum;
}

// A tag changes nothing that is parsed but the DSCP, and keeps a right checksum right.
void check_tag(FrameView frame, Tunnels tunnels, const Flow& flow) {
    std::vector<std::byte> copy{frame.bytes.begin(), frame.bytes.end()};
    const bool v4 = flow.outer_version == IpVersion::V4;
    if (v4) {
        const std::size_t at = flow.outer_l3_at + kIpv4ChecksumAt;
        store_be16(copy, at, 0);
        store_be16(copy, at, static_cast<std::uint16_t>(~header_sum(copy, flow)));
        require(header_sum(copy, flow) == 0xFFFF);
    }
    tag_frame(copy, flow, std::uint8_t{46}, std::uint8_t{5});
    require(!v4 || header_sum(copy, flow) == 0xFFFF);
    Flow again;
    parse_frame({copy, frame.wire_size}, tunnels, again);
    require(again.parsed == flow.parsed);
    for (const FieldRow& row : kFields) {
        const bool outermost = row.field == Field::IpDscp && flow.l3_at == flow.outer_l3_at;
        const std::string now = field_text(row.field, again, copy, "");
        require(now == (outermost && flow.fields.has(row.field)
                            ? "46"
                            : field_text(row.field, flow, frame.bytes, "")));
    }
}

void check(FrameView frame, Tunnels tunnels) {
    Flow flow;
    const Parsed parsed = parse_frame(frame, tunnels, flow);
    require(parsed == flow.parsed);
    require(parsed != Parsed::Cut || frame.wire_size > frame.bytes.size());
    check_places(frame, flow);
    check_fields(frame, flow);
    check_tag(frame, tunnels, flow);
}

}  // namespace

// The first byte chooses the tunnels, the second how much of the frame was captured. Each view is
// of a buffer of its own size, so that a read beyond it is seen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const Tunnels tunnels{(data[0] & 1) != 0, (data[0] & 2) != 0, (data[0] & 4) != 0};
    const ByteView whole = std::as_bytes(std::span{data + 2, size - 2});
    const auto wire = static_cast<std::uint32_t>(whole.size());
    check({whole, wire}, tunnels);
    check({whole, wire + data[1] * 8U}, tunnels);
    const ByteView head = whole.first(whole.size() * data[1] / 256);
    const std::vector<std::byte> held{head.begin(), head.end()};
    check({held, wire}, tunnels);
    return 0;
}
