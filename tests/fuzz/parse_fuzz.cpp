#include "lib/act/tag.hpp"
#include "lib/packet/field_text.hpp"
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

// Whatever the bytes: fields lie in the frame, and nothing costs more than the wire held.
void check(FrameView frame, Tunnels tunnels) {
    Flow flow;
    parse_frame(frame, tunnels, flow);
    require(flow.byte_units <= frame.wire_size);
    require(!flow.fields.has(Field::PayloadLen) || flow.payload_len <= frame.wire_size);
    require(!flow.fields.has(Field::IpSrc) || flow.l3_at + 20U <= frame.bytes.size());
    for (const FieldRow& row : kFields) {
        const std::string text = field_text(row.field, flow, frame.bytes, "lab");
        require(text.empty() == !flow.fields.has(row.field) || row.field == Field::Port);
        if (flow.fields.has(row.field) && row.kind != FieldKind::Address) {
            require(read_number(row.field, flow, frame.bytes) <= row.max);
        }
    }
    if (is_malformed(flow.parsed)) {
        return;
    }
    std::vector<std::byte> copy{frame.bytes.begin(), frame.bytes.end()};
    if (flow.outer_version == IpVersion::None ||
        (flow.fields.has(Field::IpSrc) && flow.parsed != Parsed::Cut)) {
        tag_frame(copy, flow, std::uint8_t{46}, std::uint8_t{5});
    }
    Flow again;
    parse_frame({copy, frame.wire_size}, tunnels, again);
    require(again.parsed == flow.parsed);
}

}  // namespace

// The first two bytes choose the tunnels and how much of the frame was captured.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const Tunnels tunnels{(data[0] & 1) != 0, (data[0] & 2) != 0, (data[0] & 4) != 0};
    const std::vector<std::uint8_t> frame{data + 2, data + size};
    const auto wire = static_cast<std::uint32_t>(frame.size());
    const ByteView bytes = std::as_bytes(std::span{frame});
    check({bytes, wire}, tunnels);
    check({bytes, wire + data[1] * 8U}, tunnels);
    check({bytes.first(bytes.size() * data[1] / 256), wire}, tunnels);
    return 0;
}
