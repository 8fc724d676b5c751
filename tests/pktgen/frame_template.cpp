#include "tests/pktgen/frame_template.hpp"

#include "tests/pktgen/probe.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace sluice::pktgen {
namespace {

constexpr std::uint16_t kExperimental = 0x88B5;  // IEEE 802, local experiments
constexpr std::size_t kEthernet = 14;
constexpr std::size_t kTag = 4;

struct Layout {
    std::size_t l3_at;
    std::size_t l3_size;
    std::size_t l4_size;
    [[nodiscard]] std::size_t l4_at() const { return l3_at + l3_size; }
    [[nodiscard]] std::size_t contents_at() const { return l4_at() + l4_size; }
};

constexpr std::size_t kFragmentHeader = 8;  // of IPv6
constexpr std::size_t kMtu = 1500;
constexpr std::size_t kUnit = 8;  // of a fragment's place
constexpr std::size_t kShortLater = 3 * kUnit;
constexpr std::uint8_t kIsFragment = 44;  // IPv6's next header

std::size_t l3_size_of(const PacketKind& kind, Family family) {
    if (family == Family::V4) {
        return 20;
    }
    return kind.fragment.is_part() ? 40 + kFragmentHeader : 40;
}

Layout layout_of(const PacketKind& kind, const Route& route) {
    const std::size_t l3_at = kEthernet + (route.vlan ? kTag : 0);
    const std::size_t l3_size = l3_size_of(kind, route.family);
    switch (kind.transport) {
        case Transport::NotIp:
            return {l3_at, 0, 0};
        case Transport::Tcp:
            return {l3_at, l3_size, 20};
        case Transport::Udp:
        case Transport::Icmp:
            break;
    }
    return {l3_at, l3_size, 8};
}

// Bytes of a datagram in each of its fragments. Where a size is given both frames have it; else the
// first fills an MTU, and the later one is short.
struct Parts {
    std::size_t first;
    std::size_t later;
};

Parts parts_of(const Layout& layout, std::size_t size, bool probe) {
    const std::size_t taken = layout.l4_at() + (probe ? kProbeSize : 0);
    if (size == 0) {
        return {(kEthernet + kMtu - taken) / kUnit * kUnit, kShortLater};
    }
    const std::size_t each = (size - kFcs - taken) / kUnit * kUnit;
    return {each, each};
}

std::uint8_t protocol_of(const PacketKind& kind, Family family) {
    switch (kind.transport) {
        case Transport::Tcp:
            return 6;
        case Transport::Icmp:
            return family == Family::V4 ? 1 : 58;
        case Transport::Udp:
        case Transport::NotIp:
            break;
    }
    return 17;
}

void store16(std::byte* to, std::size_t value) noexcept {
    const std::uint16_t swapped = __builtin_bswap16(static_cast<std::uint16_t>(value));
    std::memcpy(to, &swapped, sizeof(swapped));
}
void store32(std::byte* to, std::uint32_t value) noexcept {
    const std::uint32_t swapped = __builtin_bswap32(value);
    std::memcpy(to, &swapped, sizeof(swapped));
}
void store64(std::byte* to, std::uint64_t value) noexcept {
    const std::uint64_t swapped = __builtin_bswap64(value);
    std::memcpy(to, &swapped, sizeof(swapped));
}
void store8(std::byte* to, std::size_t value) noexcept {
    *to = static_cast<std::byte>(value);
}

void put_ethernet(const PacketKind& kind, const Route& route, std::byte* frame) {
    const auto& to = route.is_back ? route.src_mac : route.dst_mac;
    const auto& from = route.is_back ? route.dst_mac : route.src_mac;
    std::memcpy(frame, to.data(), to.size());
    std::memcpy(frame + 6, from.data(), from.size());
    std::size_t at = 12;
    if (route.vlan) {
        store16(frame + at, 0x8100);
        store16(frame + at + 2, *route.vlan);
        at += kTag;
    }
    const bool is_ip = kind.transport != Transport::NotIp;
    store16(frame + at, !is_ip ? kExperimental : (route.family == Family::V4 ? 0x0800 : 0x86DD));
}

void put_v4(const PacketKind& kind, const Route& route, std::size_t packet, std::byte* ip) {
    store8(ip, 0x45);
    store16(ip + 2, packet);
    store16(ip + 6, kind.fragment.is_part() ? 0 : 0x4000);  // don't fragment
    store8(ip + 8, 64);
    store8(ip + 9, protocol_of(kind, Family::V4));
    store32(ip + (route.is_back ? 12 : 16), route.dst_v4);
}
void put_v6(const PacketKind& kind, const Route& route, std::size_t payload, std::byte* ip) {
    store8(ip, 0x60);
    store16(ip + 4, payload);
    store8(ip + 6, kind.fragment.is_part() ? kIsFragment : protocol_of(kind, Family::V6));
    store8(ip + 7, 64);
    const std::size_t at = route.is_back ? 8 : 24;
    store64(ip + at, route.dst_v6[0]);
    store64(ip + at + 8, route.dst_v6[1]);
}

std::uint8_t echo_of(const Route& route) {
    constexpr std::uint8_t kRequestV4 = 8;
    constexpr std::uint8_t kReplyV4 = 0;
    constexpr std::uint8_t kRequestV6 = 128;
    constexpr std::uint8_t kReplyV6 = 129;
    if (route.family == Family::V4) {
        return route.is_back ? kReplyV4 : kRequestV4;
    }
    return route.is_back ? kReplyV6 : kRequestV6;
}

void put_transport(const PacketKind& kind, const Route& route, std::size_t size, std::byte* l4) {
    const std::size_t fixed_port = route.is_back ? 0 : 2;
    switch (kind.transport) {
        case Transport::Udp:
            store16(l4 + fixed_port, kind.dport);
            store16(l4 + 4, size);
            break;
        case Transport::Tcp:
            store16(l4 + fixed_port, kind.dport);
            store8(l4 + 12, 0x50);
            store8(l4 + 13, kind.tcp_flags);
            store16(l4 + 14, 0xFFFF);
            break;
        case Transport::Icmp:
            store8(l4, echo_of(route));
            break;
        case Transport::NotIp:
            break;
    }
}

std::size_t sum_offset(Transport transport) {
    switch (transport) {
        case Transport::Udp:
            return 6;
        case Transport::Tcp:
            return 16;
        case Transport::Icmp:
        case Transport::NotIp:
            break;
    }
    return 2;
}

// How long the frame is, without its FCS.
Result<std::size_t> frame_bytes(std::size_t headers, std::size_t size, bool probe) {
    const std::size_t least = std::max(headers + (probe ? kProbeSize : 0) + kFcs, kMinSize);
    if (size != 0 && size < least) {
        return Error{Errc::OutOfRange, "a frame of " + std::to_string(size) +
                                           " bytes has no room for what this profile sends" +
                                           (probe ? " and for a time stamp" : "") +
                                           "; the least is " + std::to_string(least)};
    }
    const std::size_t chosen = size != 0 ? size : least;
    if (chosen > kMaxSize) {
        return Error{Errc::OutOfRange, "a frame has at most " + std::to_string(kMaxSize) +
                                           " bytes; this one would have " + std::to_string(chosen)};
    }
    return chosen - kFcs;
}

}  // namespace

Result<FrameTemplate> FrameTemplate::make(const PacketKind& kind, const Route& route,
                                          std::size_t size, bool probe) {
    const Layout layout = layout_of(kind, route);
    const Contents contents = kind.contents != nullptr ? kind.contents() : Contents{};
    const bool is_part = kind.fragment.is_part();
    const std::size_t headers =
        is_part ? layout.l4_at() + kShortLater : layout.contents_at() + contents.size();
    const bool is_long = kind.fragment.part == Fragment::Part::First && size == 0;
    const Result<std::size_t> bytes = frame_bytes(
        is_long ? layout.l4_at() + parts_of(layout, size, probe).first : headers, size, probe);
    if (!bytes) {
        return bytes.error();
    }
    FrameTemplate made;
    made.kind_ = kind;
    made.family_ = route.family;
    made.is_back_ = route.is_back;
    made.frame_.assign(*bytes, std::byte{0});
    std::byte* frame = made.frame_.data();
    put_ethernet(kind, route, frame);
    if (kind.transport == Transport::NotIp) {
        return made;
    }
    if (!contents.empty()) {
        std::memcpy(frame + layout.contents_at(), contents.data(), contents.size());
    }
    made.l3_at_ = layout.l3_at;
    made.l4_at_ = layout.l4_at();
    if (is_part) {
        made.finish_fragment(route, size, probe);
        return made;
    }
    made.sum_at_ = made.l4_at_ + sum_offset(kind.transport);
    // Only of zeros the number may grow: contents stay as they are, with padding behind the packet.
    made.is_probe_covered_ = kind.contents == nullptr && !kind.is_bare;
    made.finish_packet(route, made.is_probe_covered_ ? *bytes : headers);
    return made;
}

void FrameTemplate::finish_packet(const Route& route, std::size_t end) {
    std::byte* ip = frame_.data() + l3_at_;
    const std::size_t l4_bytes = end - l4_at_;
    const bool is_v4 = family_ == Family::V4;
    if (is_v4) {
        put_v4(kind_, route, end - l3_at_, ip);
        ip_sum_.add(ByteView{ip, l4_at_ - l3_at_});
    } else {
        put_v6(kind_, route, l4_bytes, ip);
    }
    put_transport(kind_, route, l4_bytes, frame_.data() + l4_at_);
    l4_sum_.add(ByteView{frame_.data() + l4_at_, l4_bytes});
    if (kind_.transport != Transport::Icmp || !is_v4) {  // the pseudo header
        l4_sum_.add(ByteView{ip + fixed_at(), is_v4 ? 4U : 16U});
        l4_sum_.add(protocol_of(kind_, family_));
        l4_sum_.add(static_cast<std::uint32_t>(l4_bytes));
    }
}

// A probe lies behind the packet: the checksum in the first part is of what both carry.
void FrameTemplate::finish_fragment(const Route& route, std::size_t size, bool probe) {
    const bool is_v4 = family_ == Family::V4;
    const Layout layout{l3_at_, l4_at_ - l3_at_, 8};
    const Parts parts = parts_of(layout, size, probe);
    const std::size_t overlap = kind_.fragment.overlap * kUnit;
    const bool is_first = kind_.fragment.part == Fragment::Part::First;
    const std::size_t data = is_first ? parts.first : parts.later;
    const std::size_t offset = is_first ? 0 : parts.first - overlap;
    std::byte* ip = frame_.data() + l3_at_;
    if (is_v4) {
        put_v4(kind_, route, l4_at_ - l3_at_ + data, ip);
        store16(ip + 6, (is_first ? 0x2000U : 0U) | offset / kUnit);  // more fragments
        ip_sum_.add(ByteView{ip, l4_at_ - l3_at_});
    } else {
        put_v6(kind_, route, kFragmentHeader + data, ip);
        store8(ip + 40, protocol_of(kind_, Family::V6));
        store16(ip + 42, offset | (is_first ? 1U : 0U));
    }
    if (!is_first) {
        return;
    }
    sum_at_ = l4_at_ + sum_offset(kind_.transport);
    const std::size_t whole = parts.first + parts.later - overlap;
    put_transport(kind_, route, whole, frame_.data() + l4_at_);
    l4_sum_.add(ByteView{frame_.data() + l4_at_, layout.l4_size});
    l4_sum_.add(ByteView{ip + fixed_at(), is_v4 ? 4U : 16U});
    l4_sum_.add(protocol_of(kind_, family_));
    l4_sum_.add(static_cast<std::uint32_t>(whole));
}

std::size_t FrameTemplate::varied_at() const noexcept {
    if (family_ == Family::V4) {
        return is_back_ ? 16 : 12;
    }
    return is_back_ ? 24 : 8;
}
std::size_t FrameTemplate::fixed_at() const noexcept {
    if (family_ == Family::V4) {
        return is_back_ ? 12 : 16;
    }
    return is_back_ ? 8 : 24;
}

void FrameTemplate::put_datagram(const FrameVariation& variation, std::byte* to,
                                 OneSum& ip) const noexcept {
    if (!kind_.fragment.is_part()) {
        return;
    }
    if (family_ == Family::V4) {
        const auto number = static_cast<std::uint16_t>(variation.datagram);
        store16(to + l3_at_ + 4, number);
        ip.add(number);
    } else {
        store32(to + l3_at_ + 44, variation.datagram);
    }
}

void FrameTemplate::put_addresses(const FrameVariation& variation, std::byte* to, OneSum& ip,
                                  OneSum& l4) const noexcept {
    if (family_ == Family::V4) {
        const std::uint32_t source = SourceSpace::v4(variation.source, kind_.sources);
        store32(to + l3_at_ + varied_at(), source);
        ip.add32(source);
        if (kind_.transport != Transport::Icmp) {
            l4.add32(source);
        }
        return;
    }
    const SourceSpace::V6 source = SourceSpace::v6(variation.source, kind_.sources);
    store64(to + l3_at_ + varied_at(), source.network);
    store64(to + l3_at_ + varied_at() + 8, source.host);
    for (const std::uint64_t half : {source.network, source.host}) {
        l4.add32(static_cast<std::uint32_t>(half >> 32));
        l4.add32(static_cast<std::uint32_t>(half));
    }
}

void FrameTemplate::put_ports(const FrameVariation& variation, std::byte* to,
                              OneSum& l4) const noexcept {
    if (sum_at_ == 0) {  // a later fragment
        return;
    }
    if (kind_.transport == Transport::Icmp) {
        store16(to + l4_at_ + 6, variation.sport);  // the echo's number
        l4.add(variation.sport);
        return;
    }
    const std::uint16_t sport = kind_.sport != 0 ? kind_.sport : variation.sport;
    store16(to + l4_at_ + (is_back_ ? 2 : 0), sport);
    l4.add(sport);
    if (kind_.transport == Transport::Tcp) {
        store32(to + l4_at_ + 4, variation.tcp_number);
        l4.add32(variation.tcp_number);
    }
}

void FrameTemplate::put_sums(const OneSum& ip, const OneSum& l4, std::byte* to) const noexcept {
    if (family_ == Family::V4) {
        store16(to + l3_at_ + 10, ip.checksum());
    }
    if (sum_at_ == 0) {
        return;
    }
    const std::uint16_t sum = l4.checksum();
    // Zero means that there is none: RFC 768.
    store16(to + sum_at_, kind_.transport == Transport::Udp && sum == 0 ? 0xFFFF : sum);
}

void FrameTemplate::write(const FrameVariation& variation, std::byte* to) const noexcept {
    std::memcpy(to, frame_.data(), frame_.size());
    if (l3_at_ == 0) {
        return;
    }
    OneSum ip = ip_sum_;
    OneSum l4 = l4_sum_;
    put_addresses(variation, to, ip, l4);
    put_datagram(variation, to, ip);
    put_ports(variation, to, l4);
    put_sums(ip, l4, to);
}

void FrameTemplate::write_probed(const FrameVariation& variation, const Probe& probe,
                                 std::byte* to) const noexcept {
    std::memcpy(to, frame_.data(), frame_.size());
    const std::size_t at = frame_.size() - kProbeSize;
    write_probe(probe, to + at);
    if (l3_at_ == 0) {
        return;
    }
    OneSum ip = ip_sum_;
    OneSum l4 = l4_sum_;
    if (is_probe_covered_) {
        const bool is_odd = (at - l4_at_) % 2 != 0;
        const std::size_t from = is_odd ? at - 1 : at;  // the byte before it is zero
        l4.add(ByteView{to + from, frame_.size() - from});
    }
    put_addresses(variation, to, ip, l4);
    put_datagram(variation, to, ip);
    put_ports(variation, to, l4);
    put_sums(ip, l4, to);
}

}  // namespace sluice::pktgen
