#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// Whether a receiver drops a whole datagram of UDP for its checksum (RFC 768; RFC 8200, 8.1: over
// IPv6 none is wrong too). False where it cannot be known: the frame does not hold all of it.
[[nodiscard]] bool has_wrong_udp_checksum(const PacketHeaders& headers, ByteView frame) noexcept;
// The same of a datagram, header and payload, that was put together from fragments.
[[nodiscard]] bool has_wrong_udp_checksum(IpVersion version, const IpAddress& src,
                                          const IpAddress& dst, ByteView datagram) noexcept;

}  // namespace sluice
