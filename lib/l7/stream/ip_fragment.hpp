#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/packet/packet_headers.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

struct IpFragment {
    std::uint64_t digest = 0;  // keyed hash of what all fragments of its datagram have in common
    std::uint16_t offset = 0;  // of its first byte in the datagram's payload
    std::uint16_t size = 0;    // of its payload
    bool more = false;         // others lie behind it
    std::uint32_t at = 0;      // in the frame
    // Keyed hash of a later fragment's place and bytes, 1 to 255; 0: it is not known.
    std::uint8_t check = 0;
};

// The bytes, and their datagram, of a packet that is a fragment by its headers. A datagram is known
// by its addresses and identification, of IPv4 by its protocol too, and by where it came in: side,
// pair and VLAN tags. Bytes are those that the IP header claims and that were on the wire. nullopt:
// it is no fragment, or its headers are not at hand.
[[nodiscard]] std::optional<IpFragment> read_fragment(const PacketHeaders& headers,
                                                      const FrameView& frame,
                                                      const KeyHasher& hash) noexcept;
// The first fragment around a packet of a tunnel that was looked into; nullopt: it is in none.
[[nodiscard]] std::optional<IpFragment> read_fragment_around(const PacketHeaders& headers,
                                                             const FrameView& frame,
                                                             const KeyHasher& hash) noexcept;

}  // namespace sluice
