#pragma once
#include "lib/packet/cursor.hpp"
#include "lib/packet/parse.hpp"

#include <cstdint>
#include <optional>

// GRE (RFC 2784, RFC 2890), VXLAN (RFC 7348), IP in IP (RFC 2003, RFC 4213).
namespace sluice {

inline constexpr std::uint16_t kVxlanPort = 4789;

// An IP packet inside another.
struct InnerPacket {
    Cursor cursor;  // at the inner IP header
    IpVersion version = IpVersion::None;
    std::uint32_t frame_size = 0;  // of the inner Ethernet frame; 0: there is none
};

// The packet inside, if this is one of the tunnels to look into and holds IP. `cursor` stands
// behind the transport header that `flow` describes (behind the IP header when there is none).
// nullopt: not a tunnel, or nothing in it that can be read: then the outer packet is the packet.
[[nodiscard]] std::optional<InnerPacket> look_inside(const Cursor& cursor,
                                                     const PacketHeaders& headers,
                                                     Tunnels tunnels) noexcept;

}  // namespace sluice
