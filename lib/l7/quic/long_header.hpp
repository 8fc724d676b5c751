#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Long headers of QUIC: RFC 8999, RFC 9000 section 17.2, RFC 9369 section 3.2.
namespace sluice {

enum class QuicPacketType : std::uint8_t {
    Initial,
    ZeroRtt,
    Handshake,
    Retry,
    VersionNegotiation,
    OtherVersion,  // of a version that is not known here: only connection ids are read
};
inline constexpr auto kQuicPacketTypes = std::to_array<std::string_view>(
    {"initial", "0rtt", "handshake", "retry", "version_negotiation", "other_version"});

[[nodiscard]] constexpr std::string_view name_of(QuicPacketType type) noexcept {
    return kQuicPacketTypes[static_cast<std::size_t>(type)];
}

// One packet of a datagram. The views are of the datagram.
struct QuicPacket {
    QuicPacketType type = QuicPacketType::OtherVersion;
    std::uint32_t version = 0;
    ByteView dcid;
    ByteView scid;
    ByteView token;  // of an Initial or a Retry
    ByteView bytes;  // the whole packet
    // Initial, 0-RTT, Handshake: where its protected packet number begins, from its first byte.
    std::uint32_t number_at = 0;

    // True of an Initial with a sample, which removing its protection takes (RFC 9001, 5.4.2).
    [[nodiscard]] bool can_open() const noexcept;
};

// The type that a long header has by its first byte and its version.
[[nodiscard]] QuicPacketType long_header_type(std::uint8_t first, std::uint32_t version) noexcept;

enum class QuicHeaderOutcome : std::uint8_t {
    Good,
    ShortHeader,      // a packet of a connection that stands, or none of QUIC
    Truncated,        // the datagram ends before the header or before the packet's length
    BadConnectionId,  // longer than the version has them
};

// The packet at the beginning of `datagram`, which others may follow. The fixed bit is not asked
// for: RFC 9287 lets clients clear it.
[[nodiscard]] QuicHeaderOutcome read_long_header(ByteView datagram, QuicPacket& packet) noexcept;

}  // namespace sluice
