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

// The short way for what most frames are: Ethernet with one tag at most, IPv4 without options or
// IPv6 without extension headers, no fragment, UDP or TCP, all of it at hand and nothing odd about
// its lengths. True: `flow` is filled exactly as walk_frame() would fill it, but for values that
// `fields` does not name. False: `flow` is half filled.
[[nodiscard]] bool parse_common_shape(const FrameView& frame, Tunnels tunnels,
                                      PacketHeaders& headers) noexcept;

// Header by header, for frames of any shape; nothing of an earlier frame is left.
Parsed walk_frame(const FrameView& frame, Tunnels tunnels, PacketHeaders& headers) noexcept;

// Walks the headers of a frame once and fills `flow` (all but dir and port, which the caller sets).
// It may hold another frame's values, and keeps those that its new `fields` does not name. Reads
// only what it has checked is there. Never fails: the outcome is flow.parsed, also returned.
inline Parsed parse_frame(const FrameView& frame, Tunnels tunnels,
                          PacketHeaders& headers) noexcept {
    return parse_common_shape(frame, tunnels, headers) ? Parsed::Ok
                                                       : walk_frame(frame, tunnels, headers);
}

}  // namespace sluice
