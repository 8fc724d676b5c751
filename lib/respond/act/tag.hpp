#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/packet_headers.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

// Writes `dscp` into the outermost IP header (IPv4: header checksum updated incrementally, RFC
// 1624) and `pcp` into the outermost VLAN tag. What the frame has no place for is left alone, and
// so is a header that begins beyond the bytes of `frame`, which are the first ones of those that
// parse_frame() saw when it filled `flow`.
void tag_frame(MutableBytes frame, const PacketHeaders& headers, std::optional<std::uint8_t> dscp,
               std::optional<std::uint8_t> pcp) noexcept;

}  // namespace sluice
