#pragma once
#include "lib/packet/flow.hpp"

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

// Walks the headers of a frame once and fills `flow` (all but dir and port, which the caller sets).
// `flow` comes as it is made, but for those two. Reads only what it has checked is there. Never
// fails: the outcome is flow.parsed, also returned.
Parsed parse_frame(FrameView frame, Tunnels tunnels, Flow& flow) noexcept;

// The same, header by header, for frames of any shape.
Parsed walk_frame(FrameView frame, Tunnels tunnels, Flow& flow) noexcept;

}  // namespace sluice
