#include "lib/respond/answer/frame_route.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/transport.hpp"
#include "lib/respond/answer/byte_writer.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMacSize = 6;
constexpr std::size_t kPppoeLengthAt = 4;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::uint16_t kDontFragment = 0x4000;

bool is_group_mac(ByteView frame, std::size_t at) noexcept {
    return (load_u8(frame, at) & 1U) != 0;
}

// RFC 1122, 3.2.1.3, and RFC 4291, 2.5 and 2.7: unspecified, loopback, multicast and broadcast.
bool is_one_host(IpVersion version, const IpAddress& address) noexcept {
    const auto first = std::to_integer<unsigned>(address.bytes[0]);
    if (version == IpVersion::V4) {
        const bool is_broadcast = load_be32(address.bytes, 0) == 0xFFFF'FFFF;
        return first != 0 && first != 127 && first >> 4 != 0xE && !is_broadcast;
    }
    const bool upper_zero = std::all_of(address.bytes.begin(), address.bytes.begin() + 15,
                                        [](std::byte byte) { return byte == std::byte{0}; });
    return first != 0xFF && (!upper_zero || std::to_integer<unsigned>(address.bytes[15]) > 1);
}

// The beginning of a PPPoE header, behind the tags, if that is how IP follows the link layer; 0 if
// IP follows at once. Anything else there is labels.
RouteFault find_pppoe(ByteView frame, std::size_t l3_at, std::size_t& pppoe_at) noexcept {
    Cursor cursor{.bytes = frame, .at = 0, .end = static_cast<std::uint32_t>(frame.size())};
    const std::size_t after_tags = parse_ethernet(cursor, nullptr).after_tags;
    const std::size_t between = l3_at - after_tags;
    pppoe_at = between == 0 ? 0 : after_tags;
    if (between == 0) {
        return RouteFault::None;
    }
    // The PPP protocol has one byte or two; a label has four.
    const bool is_pppoe =
        load_be16(frame, after_tags - 2) == kTypePppoeSession && between <= kPppoeSize + 2U;
    return is_pppoe ? RouteFault::None : RouteFault::Labels;
}

}  // namespace

RouteFault FrameRoute::find(const PacketHeaders& headers, ByteView frame, Toward toward,
                            FrameRoute& route) noexcept {
    if (!headers.fields.has(Field::L4Dport) || headers.l4_at > frame.size() ||
        (headers.proto != kProtoTcp && headers.proto != kProtoUdp)) {
        return RouteFault::NoPorts;
    }
    if (headers.l3_at != headers.outer_l3_at) {
        return RouteFault::Tunnel;
    }
    if (headers.l3_at > kMostLinkBytes) {
        return RouteFault::TooManyTags;
    }
    if (is_group_mac(frame, kEthernetSrcAt) || is_group_mac(frame, kEthernetDstAt) ||
        !is_one_host(headers.ip_version, headers.src) ||
        !is_one_host(headers.ip_version, headers.dst)) {
        return RouteFault::GroupAddress;
    }
    route.link_ = frame.first(headers.l3_at);
    route.version_ = headers.ip_version;
    route.src_ = headers.src;
    route.dst_ = headers.dst;
    route.sport_ = headers.sport;
    route.dport_ = headers.dport;
    route.swaps_ends_ = false;
    if (toward == Toward::Source) {
        route.rotate();
    }
    return find_pppoe(frame, headers.l3_at, route.pppoe_at_);
}

void FrameRoute::rotate() noexcept {
    swaps_ends_ = !swaps_ends_;
    std::swap(src_, dst_);
    std::swap(sport_, dport_);
}

FrameRoute FrameRoute::reversed() const noexcept {
    FrameRoute back = *this;
    back.rotate();
    return back;
}

std::size_t FrameRoute::frame_size(std::size_t transport) const noexcept {
    return std::max(kLeastFrame, transport_at() + transport);
}

void FrameRoute::write_headers(MutableBytes frame, std::uint8_t proto,
                               std::size_t transport) const noexcept {
    const std::size_t end = transport_at() + transport;
    SLUICE_CHECK(frame.size() == frame_size(transport));
    write_link(frame, end - link_.size());
    const MutableBytes header = frame.subspan(link_.size());
    version_ == IpVersion::V4 ? write_ipv4(header, proto, transport)
                              : write_ipv6(header, proto, transport);
    std::fill(frame.begin() + static_cast<std::ptrdiff_t>(end), frame.end(), std::byte{0});
}

// The length behind PPPoE's header counts the PPP protocol (RFC 2516, 4).
void FrameRoute::write_link(MutableBytes frame, std::size_t packet) const noexcept {
    std::copy(link_.begin(), link_.end(), frame.begin());
    if (swaps_ends_) {
        std::swap_ranges(frame.begin(), frame.begin() + kMacSize, frame.begin() + kEthernetSrcAt);
    }
    if (pppoe_at_ != 0) {
        const std::size_t protocol = link_.size() - pppoe_at_ - kPppoeSize;
        store_be16(frame, pppoe_at_ + kPppoeLengthAt,
                   static_cast<std::uint16_t>(protocol + packet));
    }
}

void FrameRoute::write_ipv4(MutableBytes header, std::uint8_t proto,
                            std::size_t transport) const noexcept {
    ByteWriter out{header};
    out.be16(0x4500);  // version 4, five words, DSCP and ECN 0
    out.be16(static_cast<std::uint16_t>(kIpv4MinSize + transport));
    out.be16(0);
    out.be16(kDontFragment);
    out.u8(kHopLimit);
    out.u8(proto);
    out.be16(0);
    out.bytes(ByteView{src_.bytes}.first(4));
    out.bytes(ByteView{dst_.bytes}.first(4));
    InternetChecksum checksum;
    checksum.add(header.first(kIpv4MinSize));
    store_be16(header, kIpv4ChecksumAt, checksum.value());
}

void FrameRoute::write_ipv6(MutableBytes header, std::uint8_t proto,
                            std::size_t transport) const noexcept {
    ByteWriter out{header};
    out.be32(0x6000'0000);  // version 6, traffic class and flow label 0
    out.be16(static_cast<std::uint16_t>(transport));
    out.u8(proto);
    out.u8(kHopLimit);
    out.bytes(src_.bytes);
    out.bytes(dst_.bytes);
}

std::uint16_t FrameRoute::transport_checksum(ByteView frame, std::uint8_t proto,
                                             std::size_t transport) const noexcept {
    InternetChecksum checksum;
    checksum.add_pseudo_header(version_, src_, dst_, proto, static_cast<std::uint16_t>(transport));
    checksum.add(frame.subspan(transport_at(), transport));
    return checksum.value();
}

std::uint16_t FrameRoute::transport_checksum(ByteView header, std::uint8_t proto,
                                             std::size_t transport,
                                             const InternetChecksum& payload) const noexcept {
    InternetChecksum checksum = payload;
    checksum.add_pseudo_header(version_, src_, dst_, proto, static_cast<std::uint16_t>(transport));
    checksum.add(header);
    return checksum.value();
}

}  // namespace sluice
