#include "lib/packet/common_shape.hpp"

#include "lib/packet/byte_units.hpp"
#include "lib/packet/ethernet.hpp"
#include "lib/packet/ip_fields.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/transport.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr std::uint32_t kL3At = kEthernetSize;
constexpr std::uint8_t kPlainIpv4 = 0x45;      // version 4, no options
constexpr std::uint16_t kIsFragment = 0x3FFF;  // more to come, or an offset
constexpr std::uint32_t kLeastFrame = kL3At + kIpv4MinSize + kUdpSize;

constexpr FieldSet with(FieldSet set, std::initializer_list<Field> more) {
    for (const Field field : more) {
        set.add(field);
    }
    return set;
}
constexpr FieldSet kUdpShape =
    with(kIpFields, {Field::Dir, Field::EthSrc, Field::EthDst, Field::EthType, Field::IpProto,
                     Field::IpFrag, Field::L4Sport, Field::L4Dport, Field::PayloadLen});
constexpr FieldSet kTcpShape =
    with(kUdpShape, {Field::TcpFlags, Field::TcpSyn, Field::TcpAck, Field::TcpFin, Field::TcpRst,
                     Field::TcpPsh, Field::TcpUrg});

// Where the transport header starts and where its packet ends.
struct Span {
    std::uint32_t at = 0;
    std::uint32_t end = 0;
};

// The header of the transport protocol; 0: it is not the common shape.
std::uint32_t transport_size(ByteView bytes, Span span, std::uint8_t proto) noexcept {
    if (proto == kProtoUdp) {
        const std::uint32_t length = load_be16(bytes, span.at + 4);
        return length == 0 || length >= kUdpSize ? kUdpSize : 0;
    }
    if (span.at + kTcpMinSize > span.end) {
        return 0;
    }
    const std::uint32_t size = (load_u8(bytes, span.at + 12) >> 4) * 4U;
    return size >= kTcpMinSize && span.at + size <= span.end ? size : 0;
}

void fill_transport(ByteView bytes, Span span, std::uint32_t header, Flow& flow) noexcept {
    flow.l4_at = static_cast<std::uint16_t>(span.at);
    flow.sport = load_be16(bytes, span.at);
    flow.dport = load_be16(bytes, span.at + 2);
    flow.payload_at = static_cast<std::uint16_t>(span.at + header);
    flow.payload_len = span.end - span.at - header;
    if (flow.proto == kProtoUdp) {
        const std::uint32_t length = load_be16(bytes, span.at + 4);
        flow.payload_len =
            length != 0 ? std::min(flow.payload_len, length - kUdpSize) : flow.payload_len;
    } else {
        flow.tcp_flags = load_be16(bytes, span.at + 12) & 0xFFF;
    }
}

void fill_link(Flow& flow, std::uint16_t type, IpVersion version) noexcept {
    flow.fields.add_all(flow.proto == kProtoUdp ? kUdpShape : kTcpShape);
    if (flow.port != 0) {
        flow.fields.add(Field::Port);
    }
    flow.eth_type = type;
    flow.ip_version = version;
    flow.outer_version = version;
    flow.l3_at = kL3At;
    flow.outer_l3_at = kL3At;
    flow.frag = Fragment::None;
    flow.parsed = Parsed::Ok;
}

bool is_plain(std::uint8_t proto, Tunnels tunnels) noexcept {
    return proto == kProtoTcp || (proto == kProtoUdp && !tunnels.vxlan);
}

bool parse_plain_ipv4(ByteView bytes, Tunnels tunnels, Flow& flow) noexcept {
    const auto held = static_cast<std::uint32_t>(bytes.size());
    const std::uint32_t total = load_be16(bytes, kL3At + 2);
    const std::uint8_t proto = load_u8(bytes, kL3At + 9);
    if (load_u8(bytes, kL3At) != kPlainIpv4 || !is_plain(proto, tunnels) ||
        (load_be16(bytes, kL3At + 6) & kIsFragment) != 0 || total < kIpv4MinSize + kUdpSize ||
        total > held - kL3At) {
        return false;
    }
    const Span span{kL3At + kIpv4MinSize, kL3At + total};
    const std::uint32_t header = transport_size(bytes, span, proto);
    if (header == 0) {
        return false;
    }
    flow.dscp = load_u8(bytes, kL3At + 1) >> 2;
    flow.ttl = load_u8(bytes, kL3At + 8);
    flow.proto = proto;
    flow.ip_len = total;
    flow.byte_units = byte_units(total, held - kL3At, held);
    std::memcpy(flow.src.bytes.data(), bytes.data() + kL3At + kIpv4SrcAt, 4);
    std::memcpy(flow.dst.bytes.data(), bytes.data() + kL3At + kIpv4DstAt, 4);
    fill_link(flow, kTypeIpv4, IpVersion::V4);
    fill_transport(bytes, span, header, flow);
    return true;
}

bool parse_plain_ipv6(ByteView bytes, Tunnels tunnels, Flow& flow) noexcept {
    const auto held = static_cast<std::uint32_t>(bytes.size());
    if (held < kL3At + kIpv6Size + kUdpSize) {
        return false;
    }
    const std::uint32_t payload = load_be16(bytes, kL3At + 4);
    const std::uint8_t proto = load_u8(bytes, kL3At + 6);
    if (load_u8(bytes, kL3At) >> 4 != 6 || !is_plain(proto, tunnels) || payload < kUdpSize ||
        payload > held - kL3At - kIpv6Size) {
        return false;
    }
    const Span span{kL3At + kIpv6Size, kL3At + kIpv6Size + payload};
    const std::uint32_t header = transport_size(bytes, span, proto);
    if (header == 0) {
        return false;
    }
    flow.dscp = static_cast<std::uint8_t>((load_be16(bytes, kL3At) >> 6) & 0x3F);
    flow.ttl = load_u8(bytes, kL3At + 7);
    flow.proto = proto;
    flow.ip_len = kIpv6Size + payload;
    flow.byte_units = byte_units(flow.ip_len, held - kL3At, held);
    std::memcpy(flow.src.bytes.data(), bytes.data() + kL3At + kIpv6SrcAt, 16);
    std::memcpy(flow.dst.bytes.data(), bytes.data() + kL3At + kIpv6DstAt, 16);
    fill_link(flow, kTypeIpv6, IpVersion::V6);
    fill_transport(bytes, span, header, flow);
    return true;
}

}  // namespace

bool parse_common_shape(FrameView frame, Tunnels tunnels, Flow& flow) noexcept {
    const ByteView bytes = frame.bytes;
    // Offsets in Flow are 16 bits, and a frame that is not all at hand is the walk's business.
    if (bytes.size() < kLeastFrame || bytes.size() > 0xFFFF || frame.wire_size > bytes.size()) {
        return false;
    }
    switch (load_be16(bytes, 12)) {
        case kTypeIpv4:
            return parse_plain_ipv4(bytes, tunnels, flow);
        case kTypeIpv6:
            return parse_plain_ipv6(bytes, tunnels, flow);
        default:
            return false;
    }
}

}  // namespace sluice
