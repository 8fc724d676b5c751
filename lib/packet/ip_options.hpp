#pragma once
#include "lib/packet/packet_headers.hpp"

namespace sluice {

// True if every host takes a packet with such headers of IP, as far as they are at hand: of IPv4
// no options but padding and router alert (RFC 2113), of IPv6 no extension headers but Hop-by-Hop
// Options in the first place, Destination Options and one Fragment header, with padding and router
// alert (RFC 2711) alone. Hosts drop packets for others (source routes, labels, what they check and
// find not sound), some for all. `headers` are those of the frame, a fragment or not.
[[nodiscard]] bool is_taken_by_hosts(const PacketHeaders& headers, ByteView frame) noexcept;

}  // namespace sluice
