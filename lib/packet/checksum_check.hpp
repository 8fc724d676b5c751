#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// The state of the checksums of a TCP segment or a UDP datagram.
enum class ChecksumFinding : std::uint8_t {
    Right,
    Wrong,
    Unfinished,  // the sum of the pseudo-header alone: a sender left the rest to its adapter
    Unknown,     // not all bytes are at hand, or the header does not say what the sum covers
};

// The checksums of IPv4's header and of TCP or UDP, by the bytes. A TCP packet whose IP length is
// not what came is Wrong too: receivers drop it. `headers` are those of the frame, of a whole
// packet (not a fragment).
[[nodiscard]] ChecksumFinding find_checksums(const PacketHeaders& headers,
                                             const FrameView& frame) noexcept;
// The checksum of the header of IPv4, of a fragment too, is wrong. False: it is right, is not all
// at hand, or IPv6 has none.
[[nodiscard]] bool has_wrong_ip_checksum(const PacketHeaders& headers,
                                         const FrameView& frame) noexcept;
// The checksum of a datagram of UDP, header and payload (RFC 768; RFC 8200, 8.1: over IPv6 none is
// wrong too). Unknown, where its length is another than it says, or it has none over IPv4.
[[nodiscard]] ChecksumFinding find_udp_checksum(IpVersion version, const IpAddress& src,
                                                const IpAddress& dst, ByteView datagram) noexcept;

}  // namespace sluice
