#pragma once
#include "lib/respond/answer/frame_route.hpp"
#include "lib/respond/answer/tcp_facts.hpp"

#include <cstddef>

namespace sluice {

// A TCP segment that the box sends in the name of one of the two ends.
struct MadeSegment {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;  // counts only with kTcpAck
    std::uint16_t flags = 0;
    std::optional<TcpTimestamps> timestamps;
    ByteView payload;
    // The payload's part of the checksum; nullptr: nobody has summed it up. Set, it stays as long
    // as the payload does.
    const InternetChecksum* payload_sum = nullptr;
};

// The size of the whole frame. The payload's size plus headers fits in an IP packet.
[[nodiscard]] std::size_t segment_frame_size(const FrameRoute& route,
                                             const MadeSegment& segment) noexcept;
// `frame` has segment_frame_size() bytes; all of them are written, checksums too. The window is
// the largest there is, so that one that stands never shrinks; a RST has none.
void write_segment(const FrameRoute& route, const MadeSegment& segment,
                   MutableBytes frame) noexcept;

}  // namespace sluice
