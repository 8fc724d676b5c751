#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/tunnels.hpp"

#include <cstdint>

namespace sluice {

// How many IP headers deep tunnels are followed; one more is Parsed::TooDeep.
inline constexpr unsigned kMaxTunnelDepth = 4;
// How many IPv6 extension headers are walked; one more is Parsed::TooDeep.
inline constexpr unsigned kMaxIpv6Extensions = 16;

// Walks the headers of a frame of any shape once and fills `headers` (all but dir and port, which
// the caller sets); an earlier frame's values are gone. Reads only bytes that are there. Never
// fails: the outcome is headers.parsed, also returned.
Parsed parse_frame(const FrameView& frame, const Tunnels& tunnels, PacketHeaders& headers) noexcept;

}  // namespace sluice
