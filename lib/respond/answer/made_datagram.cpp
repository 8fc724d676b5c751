#include "lib/respond/answer/made_datagram.hpp"

#include "lib/packet/transport.hpp"
#include "lib/respond/answer/byte_writer.hpp"

namespace sluice {

std::size_t datagram_frame_size(const FrameRoute& route, ByteView payload) noexcept {
    return route.frame_size(kUdpSize + payload.size());
}

void write_datagram(const FrameRoute& route, ByteView payload, MutableBytes frame) noexcept {
    constexpr std::size_t kUdpChecksumAt = 6;
    const std::size_t size = kUdpSize + payload.size();
    route.write_headers(frame, kProtoUdp, size);
    const MutableBytes udp = frame.subspan(route.transport_at(), size);
    ByteWriter out{udp};
    out.be16(route.sport());
    out.be16(route.dport());
    out.be16(static_cast<std::uint16_t>(size));
    out.be16(0);
    out.bytes(payload);
    const std::uint16_t checksum = route.transport_checksum(frame, kProtoUdp, size);
    // RFC 768: zero says that there is no checksum, and is sent as its complement.
    store_be16(udp, kUdpChecksumAt, checksum == 0 ? std::uint16_t{0xFFFF} : checksum);
}

}  // namespace sluice
