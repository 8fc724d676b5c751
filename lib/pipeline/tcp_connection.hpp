#pragma once
#include "lib/base/bytes.hpp"
#include "lib/hash/group_key.hpp"
#include "lib/meter/connection_segment.hpp"
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// The connection of a TCP packet, with the packet's sequence numbers and flags. Its digest is over
// addresses and ports, the same in either direction.
[[nodiscard]] ConnectionSegment connection_segment(const PacketHeaders& headers, ByteView frame,
                                                   const KeyHasher& hash) noexcept;
[[nodiscard]] inline ConnectionStart connection_start(const PacketHeaders& headers, ByteView frame,
                                                      const KeyHasher& hash) noexcept {
    const ConnectionSegment segment = connection_segment(headers, frame, hash);
    return {.digest = segment.digest, .seq = segment.seq, .from = segment.from};
}

}  // namespace sluice
