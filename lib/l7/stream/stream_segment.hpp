#pragma once
#include "lib/l7/stream/stream_reading.hpp"
#include "lib/l7/stream/tcp_segment.hpp"
#include "lib/l7/stream/unit_source.hpp"

#include <cstdint>

namespace sluice {

// A packet of TCP as the table of connections takes it.
[[nodiscard]] TcpSegment segment_of(ByteView payload, const UnitSource& packet) noexcept;
[[nodiscard]] std::uint32_t acknowledged_by(const UnitSource& packet) noexcept;
// Bytes that have the verdict of a unit's head.
[[nodiscard]] std::uint32_t extent_of(const StreamReading& unit) noexcept;

}  // namespace sluice
