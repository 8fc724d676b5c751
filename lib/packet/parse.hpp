#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// Tunnels to look into. VLAN tags, MPLS labels and PPPoE are always stepped over.
struct Tunnels {
    bool gre = false;
    bool vxlan = false;  // UDP port 4789
    bool ipip = false;   // IP protocols 4 and 41
};

// How many IP headers deep tunnels are followed; one more is Parsed::TooDeep.
inline constexpr unsigned kMaxTunnelDepth = 4;
// How many IPv6 extension headers are walked; one more is Parsed::TooDeep.
inline constexpr unsigned kMaxIpv6Extensions = 16;

// Walks the headers of a frame of any shape once and fills `headers` (all but dir and port, which
// the caller sets); an earlier frame's values are gone. Reads only bytes that are there. Never
// fails: the outcome is headers.parsed, also returned.
Parsed parse_frame(const FrameView& frame, Tunnels tunnels, PacketHeaders& headers) noexcept;

}  // namespace sluice
