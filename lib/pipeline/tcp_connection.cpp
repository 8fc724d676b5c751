#include "lib/pipeline/tcp_connection.hpp"

#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;

}  // namespace

ConnectionSegment connection_segment(const ConnectionEnds& ends, const PacketHeaders& headers,
                                     ByteView frame) noexcept {
    const auto has = [&](std::uint16_t flag) { return (headers.tcp_flags & flag) != 0; };
    return {.digest = ends.digest,
            .seq = load_be32(frame, headers.l4_at + 4U),
            .ack = load_be32(frame, headers.l4_at + 8U),
            .payload = headers.payload_len,
            .from = static_cast<ConnectionEnd>(ends.from_low ? 0 : 1),
            .has_ack = has(kAck),
            .syn = has(kSyn),
            .fin = has(kFin),
            .rst = has(kRst),
            .from_inside = !ends.from_outside};
}

SumOutcome tcp_sum(const PacketHeaders& headers, ByteView frame) noexcept {
    const std::size_t end = std::size_t{headers.l3_at} + headers.ip_len;
    if (headers.ip_len == 0 || end > frame.size() || end < headers.l4_at + kTcpMinSize) {
        return SumOutcome::Unknown;
    }
    const ByteView segment = frame.subspan(headers.l4_at, end - headers.l4_at);
    InternetChecksum sum;
    sum.add_pseudo_header(headers.ip_version, headers.src, headers.dst, kProtoTcp,
                          static_cast<std::uint16_t>(segment.size()));
    sum.add(segment);
    return sum.value() == 0 ? SumOutcome::Right : SumOutcome::Wrong;
}

}  // namespace sluice
