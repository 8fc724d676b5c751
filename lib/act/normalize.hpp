#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// Clears URG and the urgent pointer of a TCP segment (its checksum is updated incrementally, RFC
// 1624), so that the byte it points at stays in the stream for everybody. Bytes beyond `frame` are
// left alone.
void clear_urgent(MutableBytes frame, const PacketHeaders& headers) noexcept;

// Raises the time to live, or hop limit, of the header that `ip.*` refers to (IPv4: with its
// checksum).
void raise_ttl(MutableBytes frame, const PacketHeaders& headers, std::uint8_t least) noexcept;

}  // namespace sluice
