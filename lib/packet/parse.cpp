#include "lib/packet/parse.hpp"

#include "lib/packet/byte_units.hpp"
#include "lib/packet/ethernet.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/transport.hpp"
#include "lib/packet/tunnel.hpp"

#include <algorithm>
#include <cstddef>

#include <immintrin.h>

namespace sluice {
namespace {

// A first fragment holds the headers of what it carries, as a whole packet does.
bool has_all_headers(Parsed parsed) noexcept {
    return parsed == Parsed::Ok || parsed == Parsed::FirstFragment;
}

// One IP packet: its header, what it costs, its transport header.
Parsed parse_ip(Cursor& cursor, IpVersion version, std::uint32_t frame_size, Flow& flow) noexcept {
    if (cursor.too_far()) {
        return Parsed::TooDeep;
    }
    const std::uint32_t there = cursor.left();
    flow.l3_at = static_cast<std::uint16_t>(cursor.at);
    const Parsed parsed =
        version == IpVersion::V4 ? parse_ipv4(cursor, flow) : parse_ipv6(cursor, flow);
    if (flow.fields.has(Field::IpLen)) {
        flow.byte_units = byte_units(flow.ip_len, there, frame_size);
    }
    if (!has_all_headers(parsed)) {
        return parsed;
    }
    const Parsed transport = parse_transport(cursor, flow);
    return transport == Parsed::Ok ? parsed : transport;
}

// Follows tunnels inwards. `link` is the flow as the link layer left it: every inner packet starts
// from there, so nothing of an outer packet shows through.
[[gnu::noinline, gnu::cold]] Parsed parse_tunnels_slow(Cursor cursor, Tunnels tunnels,
                                                       std::uint32_t frame_size, const Flow& link,
                                                       Flow& flow) noexcept {
    const std::uint16_t outer_l3_at = flow.l3_at;
    const IpVersion outer_version = flow.ip_version;
    for (unsigned depth = 1; has_all_headers(flow.parsed); ++depth) {
        const std::optional<InnerPacket> inner = look_inside(cursor, flow, tunnels);
        if (!inner) {
            return flow.parsed;
        }
        if (depth == kMaxTunnelDepth) {
            return Parsed::TooDeep;
        }
        Flow inside = link;
        cursor = inner->cursor;
        inside.parsed = parse_ip(cursor, inner->version,
                                 inner->frame_size != 0 ? inner->frame_size : frame_size, inside);
        if (inside.parsed == Parsed::Cut && !inside.fields.has(Field::IpSrc)) {
            return flow.parsed;  // nothing of the inner packet is at hand
        }
        inside.outer_l3_at = outer_l3_at;
        inside.outer_version = outer_version;
        inside.fields.add(Field::OuterIpSrc);
        inside.fields.add(Field::OuterIpDst);
        flow = inside;
    }
    return flow.parsed;
}

bool may_be_tunnel(const Flow& flow, Tunnels tunnels) noexcept {
    return (tunnels.vxlan && flow.proto == kProtoUdp) || (tunnels.gre && flow.proto == kProtoGre) ||
           (tunnels.ipip && (flow.proto == kProtoIpip || flow.proto == kProtoIpv6));
}

// The outermost IP header and what is in it.
void walk_outer(Cursor& cursor, IpVersion version, std::uint32_t frame_size, Flow& flow) noexcept {
    flow.parsed = parse_ip(cursor, version, frame_size, flow);
    flow.outer_l3_at = flow.l3_at;
    flow.outer_version = flow.ip_version;
}

// All but where the frame came in becomes zero, as in a new Flow. In stores that overlap: GCC would
// zero so few bytes by `rep stos`, which takes as long as a short header.
void forget_frame(Flow& flow) noexcept {
    const std::uint64_t port = flow.port;
    const Direction dir = flow.dir;
    auto* const bytes = reinterpret_cast<std::byte*>(&flow);
    constexpr std::size_t kWide = sizeof(__m256i);
    constexpr std::size_t kLast = sizeof(Flow) - kWide;
    static_assert(kLast > 2 * kWide && kLast <= 3 * kWide);
    for (const std::size_t at : {std::size_t{0}, kWide, 2 * kWide, kLast}) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes + at), _mm256_setzero_si256());
    }
    flow.port = port;
    flow.dir = dir;
}

}  // namespace

Parsed walk_frame(const FrameView& frame, Tunnels tunnels, Flow& flow) noexcept {
    const auto held =
        static_cast<std::uint32_t>(std::min<std::size_t>(frame.bytes.size(), UINT32_MAX / 2));
    Cursor cursor{
        .bytes = frame.bytes.first(held), .at = 0, .end = std::max(frame.wire_size, held)};
    const std::uint32_t frame_size = cursor.end;
    forget_frame(flow);
    flow.fields.add(Field::Dir);
    if (flow.port != 0) {
        flow.fields.add(Field::Port);
    }
    const LinkLayer link = parse_ethernet(cursor, &flow);
    const std::uint32_t behind_tags = link.after_tags == 0 ? 0 : frame_size - link.after_tags;
    flow.byte_units = behind_tags;
    if (link.parsed != Parsed::Ok) {
        return flow.parsed = link.parsed;
    }
    if (tunnels.gre || tunnels.vxlan || tunnels.ipip) {
        const Flow after_link = flow;
        walk_outer(cursor, link.version, frame_size, flow);
        if (has_all_headers(flow.parsed) && may_be_tunnel(flow, tunnels)) [[unlikely]] {
            flow.parsed = parse_tunnels_slow(cursor, tunnels, frame_size, after_link, flow);
        }
    } else {
        walk_outer(cursor, link.version, frame_size, flow);
    }
    if (is_malformed(flow.parsed)) [[unlikely]] {
        flow.byte_units = behind_tags;  // a broken packet's own length is worth nothing
    }
    return flow.parsed;
}

}  // namespace sluice
