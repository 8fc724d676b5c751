#pragma once
#include "lib/base/bytes.hpp"
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// The connection of a TCP packet, with the packet's sequence numbers and flags.
[[nodiscard]] ConnectionSegment connection_segment(const ConnectionEnds& ends,
                                                   const PacketHeaders& headers,
                                                   ByteView frame) noexcept;
[[nodiscard]] inline ConnectionStart connection_start(const ConnectionEnds& ends,
                                                      const PacketHeaders& headers,
                                                      ByteView frame) noexcept {
    using Kind = ConnectionStart::Kind;
    const ConnectionSegment segment = connection_segment(ends, headers, frame);
    return {.digest = segment.digest,
            .seq = segment.seq,
            .ack = segment.ack,
            .from = segment.from,
            .kind = segment.syn ? Kind::Opens : Kind::Completes};
}

}  // namespace sluice
