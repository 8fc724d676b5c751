#pragma once
#include "lib/base/bytes.hpp"
#include "lib/hash/group_key.hpp"
#include "lib/meter/connection_segment.hpp"
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// The connection of a packet that has TCP, and what the packet says of it. A connection is known by
// its addresses and ports, in either direction.
[[nodiscard]] ConnectionSegment connection_segment(const PacketHeaders& headers, ByteView frame,
                                                   const KeyHasher& hash) noexcept;
[[nodiscard]] inline ConnectionStart connection_start(const PacketHeaders& headers, ByteView frame,
                                                      const KeyHasher& hash) noexcept {
    const ConnectionSegment segment = connection_segment(headers, frame, hash);
    return {.digest = segment.digest, .seq = segment.seq, .from = segment.from};
}

}  // namespace sluice
