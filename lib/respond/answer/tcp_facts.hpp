#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/respond/answer/segment_numbers.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

// The timestamps option, RFC 7323, 3.2.
struct TcpTimestamps {
    std::uint32_t value = 0;
    std::uint32_t echo = 0;

    [[nodiscard]] bool operator==(const TcpTimestamps&) const noexcept = default;
};

// Facts that an answer needs of a received segment beyond its PacketHeaders.
struct TcpFacts {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;  // counts only with kTcpAck
    std::uint16_t flags = 0;
    std::uint32_t payload = 0;
    std::optional<TcpTimestamps> timestamps;

    [[nodiscard]] constexpr bool has(std::uint16_t flag) const noexcept {
        return (flags & flag) != 0;
    }
    [[nodiscard]] constexpr SegmentNumbers numbers() const noexcept {
        return {.seq = seq, .ack = ack, .flags = flags, .payload = payload};
    }
    // The number behind it: a SYN and a FIN take one each.
    [[nodiscard]] constexpr std::uint32_t end() const noexcept {
        return seq + payload + (has(kTcpSyn) ? 1U : 0U) + (has(kTcpFin) ? 1U : 0U);
    }
};

// nullopt: no TCP, or the header is not all at hand. Options are read up to the first that is not
// sound.
[[nodiscard]] std::optional<TcpFacts> read_tcp_facts(const PacketHeaders& headers,
                                                     ByteView frame) noexcept;

}  // namespace sluice
