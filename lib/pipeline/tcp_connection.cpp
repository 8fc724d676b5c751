#include "lib/pipeline/tcp_connection.hpp"

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
            .rst = has(kRst)};
}

}  // namespace sluice
