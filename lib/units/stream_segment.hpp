#pragma once
#include "lib/conn/tcp_segment.hpp"
#include "lib/pipeline/burst_units.hpp"

#include <cstdint>

namespace sluice {

// A packet of TCP as the table of connections takes it.
[[nodiscard]] TcpSegment segment_of(ByteView payload, const UnitSource& packet) noexcept;
// Its acknowledgement number.
[[nodiscard]] std::uint32_t acknowledged_by(const UnitSource& packet) noexcept;

}  // namespace sluice
