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
Parsed parse_ip(Cursor& cursor, IpVersion version, std::uint32_t frame_size,
                PacketHeaders& headers) noexcept {
    if (cursor.too_far()) {
        return Parsed::TooDeep;
    }
    const std::uint32_t there = cursor.left();
    headers.l3_at = static_cast<std::uint16_t>(cursor.at);
    const Parsed parsed =
        version == IpVersion::V4 ? parse_ipv4(cursor, headers) : parse_ipv6(cursor, headers);
    if (headers.fields.has(Field::IpLen)) {
        headers.byte_units = byte_units(headers.ip_len, there, frame_size);
    }
    if (!has_all_headers(parsed)) {
        return parsed;
    }
    const Parsed transport = parse_transport(cursor, headers);
    return transport == Parsed::Ok ? parsed : transport;
}

// The outcome for a packet whose tunnel is not looked into. A whole datagram that ends inside the
// tunnel's header leads to no packet at any receiver; of a fragment the rest is to come, with what
// rules would judge.
Parsed outcome_before_inner(Parsed reached, Parsed outer, bool is_in_fragment) noexcept {
    return reached == Parsed::TruncatedL4 && !is_in_fragment ? outer : reached;
}

// Follows tunnels inwards. `link` is the flow as the link layer left it: every inner packet starts
// from there, so nothing of an outer packet shows through.
[[gnu::noinline, gnu::cold]] Parsed parse_tunnels_slow(Cursor cursor, const Tunnels& tunnels,
                                                       std::uint32_t frame_size,
                                                       const PacketHeaders& link,
                                                       PacketHeaders& headers) noexcept {
    const std::uint16_t outer_l3_at = headers.l3_at;
    const IpVersion outer_version = headers.ip_version;
    std::uint16_t fragment_at = 0;
    for (unsigned depth = 1; has_all_headers(headers.parsed); ++depth) {
        if (fragment_at == 0 && headers.frag == Fragment::First) {
            fragment_at = headers.l3_at;
        }
        const std::optional<InnerPacket> inner = look_inside(cursor, headers, tunnels);
        if (!inner) {
            return headers.parsed;
        }
        if (inner->reached != Parsed::Ok) {
            return outcome_before_inner(inner->reached, headers.parsed, fragment_at != 0);
        }
        if (depth == kMaxTunnelDepth) {
            return Parsed::TooDeep;
        }
        PacketHeaders inside = link;
        cursor = inner->cursor;
        inside.parsed = parse_ip(cursor, inner->version,
                                 inner->frame_size != 0 ? inner->frame_size : frame_size, inside);
        if (inside.parsed == Parsed::Cut && !inside.fields.has(Field::IpSrc)) {
            return Parsed::Cut;  // nothing of the inner packet is at hand
        }
        inside.outer_l3_at = outer_l3_at;
        inside.outer_version = outer_version;
        inside.fragment_around_at = fragment_at;
        inside.fields.add(Field::OuterIpSrc);
        inside.fields.add(Field::OuterIpDst);
        headers = inside;
    }
    return headers.parsed;
}

bool may_be_tunnel(const PacketHeaders& headers, const Tunnels& tunnels) noexcept {
    return (tunnels.any_over_udp() && headers.proto == kProtoUdp) ||
           (tunnels.gre && headers.proto == kProtoGre) ||
           (tunnels.ipip && (headers.proto == kProtoIpip || headers.proto == kProtoIpv6));
}

// The outermost IP header and what is in it.
void walk_outer(Cursor& cursor, IpVersion version, std::uint32_t frame_size,
                PacketHeaders& headers) noexcept {
    headers.parsed = parse_ip(cursor, version, frame_size, headers);
    headers.outer_l3_at = headers.l3_at;
    headers.outer_version = headers.ip_version;
}

// All but where the frame came in becomes zero, as in a new PacketHeaders. In stores that overlap:
// GCC would zero so few bytes by `rep stos`, which takes as long as a short header.
void forget_frame(PacketHeaders& headers) noexcept {
    const std::uint64_t port = headers.port;
    const Direction dir = headers.dir;
    auto* const bytes = reinterpret_cast<std::byte*>(&headers);
    constexpr std::size_t kWide = sizeof(__m256i);
    constexpr std::size_t kLast = sizeof(PacketHeaders) - kWide;
    static_assert(kLast > 2 * kWide && kLast <= 3 * kWide);
    for (const std::size_t at : {std::size_t{0}, kWide, 2 * kWide, kLast}) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes + at), _mm256_setzero_si256());
    }
    headers.port = port;
    headers.dir = dir;
}

}  // namespace

Parsed parse_frame(const FrameView& frame, const Tunnels& tunnels,
                   PacketHeaders& headers) noexcept {
    const auto held =
        static_cast<std::uint32_t>(std::min<std::size_t>(frame.bytes.size(), UINT32_MAX / 2));
    Cursor cursor{
        .bytes = frame.bytes.first(held), .at = 0, .end = std::max(frame.wire_size, held)};
    const std::uint32_t frame_size = cursor.end;
    forget_frame(headers);
    headers.fields.add(Field::Dir);
    if (headers.port != 0) {
        headers.fields.add(Field::Port);
    }
    const LinkLayer link = parse_ethernet(cursor, &headers);
    const std::uint32_t behind_tags = link.after_tags == 0 ? 0 : frame_size - link.after_tags;
    headers.byte_units = behind_tags;
    if (link.parsed != Parsed::Ok) {
        return headers.parsed = link.parsed;
    }
    if (tunnels.any()) {
        const PacketHeaders after_link = headers;
        walk_outer(cursor, link.version, frame_size, headers);
        if (has_all_headers(headers.parsed) && may_be_tunnel(headers, tunnels)) [[unlikely]] {
            headers.parsed = parse_tunnels_slow(cursor, tunnels, frame_size, after_link, headers);
        }
    } else {
        walk_outer(cursor, link.version, frame_size, headers);
    }
    if (is_malformed(headers.parsed)) [[unlikely]] {
        headers.byte_units = behind_tags;  // a broken packet's own length is worth nothing
    }
    return headers.parsed;
}

}  // namespace sluice
