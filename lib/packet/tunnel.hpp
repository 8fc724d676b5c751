#pragma once
#include "lib/packet/cursor.hpp"
#include "lib/packet/parse.hpp"

#include <cstdint>
#include <optional>

// GRE (RFC 2784, RFC 2890), VXLAN (RFC 7348), IP in IP (RFC 2003, RFC 4213), GENEVE (RFC 8926),
// GTP-U (3GPP TS 29.281).
namespace sluice {

// How many extension headers of GTP-U are walked; one more is Parsed::TooDeep.
inline constexpr unsigned kMaxGtpuExtensions = 16;

// An IP packet inside another, or why the walk ends before it: more headers than are walked
// (TooDeep), a tunnel's header that goes on where the packet ends (TruncatedL4) or where only the
// bytes at hand do (Cut). A header of Ethernet inside is the tunnel's too.
struct InnerPacket {
    Cursor cursor;  // at the inner IP header
    IpVersion version = IpVersion::None;
    std::uint32_t frame_size = 0;  // of the inner Ethernet frame; 0: there is none
    Parsed reached = Parsed::Ok;
};

// The packet inside, if this is one of the tunnels to look into and holds IP. `cursor` stands
// behind the transport header that `headers` describe (behind the IP header when there is none).
// nullopt: not a tunnel, or one of something else: then the outer packet is the packet.
[[nodiscard]] std::optional<InnerPacket> look_inside(const Cursor& cursor,
                                                     const PacketHeaders& headers,
                                                     const Tunnels& tunnels) noexcept;

}  // namespace sluice
