#include "lib/l7/stream/stream_segment.hpp"

#include "lib/l7/stream/source_network.hpp"
#include "lib/packet/tcp_flags.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

std::uint32_t word_at(const UnitSource& packet, std::size_t at) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, packet.frame.bytes.data() + packet.headers.l4_at + at, sizeof(word));
    return __builtin_bswap32(word);
}
std::uint32_t sequence_of(const UnitSource& packet) noexcept {
    return word_at(packet, 4);
}

// One way, and of what is only forwarded, the server's word is not known or not what is gone by;
// and what a monitored service would hold back goes on.
std::optional<std::uint32_t> acknowledged_of(const ServicePacket& packet) noexcept {
    const bool is_known = packet.is_enforced() && packet.is_established &&
                          (!packet.is_midstream || packet.may_miss_some);
    return is_known ? std::optional{packet.acknowledged} : std::nullopt;
}

}  // namespace

std::uint32_t acknowledged_by(const UnitSource& packet) noexcept {
    return word_at(packet, 8);
}

TcpSegment segment_of(ByteView payload, const UnitSource& packet) noexcept {
    const std::uint16_t flags = packet.headers.tcp_flags;
    const bool is_syn = (flags & kTcpSyn) != 0 && !packet.service.is_other_syn;
    const std::uint64_t connection =
        packet.note != 0 ? packet.note : connection_ends(packet.headers, packet.hash).along();
    return {.digest = connection,
            .source = source_of(packet),
            .seq = sequence_of(packet),
            .syn = is_syn,
            .begins = is_syn && (flags & kTcpAck) == 0,
            .fin = (flags & kTcpFin) != 0,
            .rst = (flags & kTcpRst) != 0,
            .payload = payload,
            .hash = &packet.hash,
            .acknowledged = acknowledged_of(packet.service),
            .is_word_old = packet.service.is_server_unheard,
            .refusals_stand = packet.service.is_enforced()};
}

std::uint32_t extent_of(const StreamReading& unit) noexcept {
    using Kind = UnitBody::Kind;
    const std::uint64_t body = unit.body.kind == Kind::UntilClose ? JudgedRanges::kMostBytes
                               : unit.body.kind == Kind::Sized    ? unit.body.bytes
                                                                  : 0;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(unit.head + body, JudgedRanges::kMostBytes));
}

}  // namespace sluice
