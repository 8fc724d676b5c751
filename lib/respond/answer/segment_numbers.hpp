#pragma once
#include "lib/packet/tcp_flags.hpp"

#include <cstdint>

namespace sluice {

// Numbers of a TCP segment: its place in its connection.
struct SegmentNumbers {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;  // counts only with kTcpAck
    std::uint16_t flags = 0;
    std::uint32_t payload = 0;

    [[nodiscard]] constexpr bool has(std::uint16_t flag) const noexcept {
        return (flags & flag) != 0;
    }
    [[nodiscard]] constexpr bool begins() const noexcept { return has(kTcpSyn) && !has(kTcpAck); }
    // True if the segment has a byte at `from` or behind it; a FIN is one.
    [[nodiscard]] constexpr bool reaches(std::uint32_t from) const noexcept {
        const std::uint32_t end = seq + payload + (has(kTcpFin) ? 1U : 0U);
        return end != seq && static_cast<std::int32_t>(end - from) > 0;
    }
};

}  // namespace sluice
