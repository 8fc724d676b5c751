#pragma once
#include "lib/packet/cursor.hpp"

#include <cstddef>
#include <cstdint>

// IPv4, RFC 791.
namespace sluice {

inline constexpr std::uint32_t kIpv4MinSize = 20;
inline constexpr std::size_t kIpv4ChecksumAt = 10;
inline constexpr std::size_t kIpv4SrcAt = 12;
inline constexpr std::size_t kIpv4DstAt = 16;

// Reads the header at the cursor into `flow`, moves the cursor behind it and its end to the end of
// the IP packet. Ok, FirstFragment: the transport header follows. LaterFragment: it does not.
[[nodiscard]] Parsed parse_ipv4(Cursor& cursor, PacketHeaders& headers) noexcept;

}  // namespace sluice
