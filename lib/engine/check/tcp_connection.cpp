#include "lib/engine/check/tcp_connection.hpp"

#include "lib/packet/tcp_flags.hpp"

namespace sluice {
ConnectionSegment connection_segment(const ConnectionEnds& ends, const PacketHeaders& headers,
                                     ByteView frame) noexcept {
    const auto has = [&](std::uint16_t flag) { return (headers.tcp_flags & flag) != 0; };
    return {.digest = ends.digest,
            .seq = load_be32(frame, headers.l4_at + 4U),
            .ack = load_be32(frame, headers.l4_at + 8U),
            .payload = headers.payload_len,
            .from = static_cast<ConnectionEnd>(ends.from_low ? 0 : 1),
            .has_ack = has(kTcpAck),
            .syn = has(kTcpSyn),
            .fin = has(kTcpFin),
            .rst = has(kTcpRst),
            .from_inside = !ends.from_outside};
}

}  // namespace sluice
