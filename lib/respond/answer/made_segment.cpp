#include "lib/respond/answer/made_segment.hpp"

#include "lib/packet/transport.hpp"
#include "lib/respond/answer/byte_writer.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTimestampsSize = 12;
constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::uint16_t kLargestWindow = 0xFFFF;

std::size_t tcp_header_size(const MadeSegment& segment) noexcept {
    return kTcpMinSize + (segment.timestamps ? kTimestampsSize : 0);
}

}  // namespace

std::size_t segment_frame_size(const FrameRoute& route, const MadeSegment& segment) noexcept {
    return route.frame_size(tcp_header_size(segment) + segment.payload.size());
}

void write_segment(const FrameRoute& route, const MadeSegment& segment,
                   MutableBytes frame) noexcept {
    const std::size_t header = tcp_header_size(segment);
    const std::size_t size = header + segment.payload.size();
    route.write_headers(frame, kProtoTcp, size);
    const MutableBytes tcp = frame.subspan(route.transport_at(), size);
    ByteWriter out{tcp};
    out.be16(route.sport());
    out.be16(route.dport());
    out.be32(segment.seq);
    out.be32((segment.flags & kTcpAck) != 0 ? segment.ack : 0);
    out.be16(static_cast<std::uint16_t>(header / 4 << 12 | segment.flags));
    out.be16((segment.flags & kTcpRst) != 0 ? 0 : kLargestWindow);
    out.be32(0);  // checksum, urgent pointer
    if (segment.timestamps) {
        out.be32(0x0101'080A);  // two NOPs, so that the numbers are aligned (RFC 7323, appendix A)
        out.be32(segment.timestamps->value);
        out.be32(segment.timestamps->echo);
    }
    out.bytes(segment.payload);
    const std::uint16_t checksum =
        segment.payload_sum != nullptr
            ? route.transport_checksum(tcp.first(header), kProtoTcp, size, *segment.payload_sum)
            : route.transport_checksum(frame, kProtoTcp, size);
    store_be16(tcp, kTcpChecksumAt, checksum);
}

}  // namespace sluice
