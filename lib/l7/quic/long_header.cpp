#include "lib/l7/quic/long_header.hpp"

#include "lib/l7/quic/quic_version.hpp"
#include "lib/l7/quic/varint.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::uint8_t kLongForm = 0x80;
constexpr std::size_t kMaxConnectionId = 20;
constexpr std::size_t kRetryTag = 16;
// Up to four bytes of packet number, and the sample behind these.
constexpr std::size_t kSampleEnd = 4 + 16;

// The part behind the connection ids, up to the end of the packet.
bool read_rest(ByteReader& reader, QuicPacket& packet) noexcept {
    if (packet.type == QuicPacketType::Retry) {
        packet.token = reader.take(reader.left() - std::min(reader.left(), kRetryTag));
        return reader.take(kRetryTag).size() == kRetryTag;
    }
    if (packet.type > QuicPacketType::Retry) {
        (void)reader.take(reader.left());
        return true;
    }
    if (packet.type == QuicPacketType::Initial) {
        packet.token = take_varint_part(reader);
    }
    const std::uint64_t length = read_varint(reader);
    packet.number_at = static_cast<std::uint32_t>(reader.at());
    (void)reader.take(length);
    return reader.ok();
}

}  // namespace

// Version 2 counts the types one further on.
QuicPacketType long_header_type(std::uint8_t first, std::uint32_t version) noexcept {
    if (version == kQuicNegotiation) {
        return QuicPacketType::VersionNegotiation;
    }
    if (!is_known_quic_version(version)) {
        return QuicPacketType::OtherVersion;
    }
    const unsigned number = first >> 4 & 3U;
    return static_cast<QuicPacketType>((number + (version == kQuicV2 ? 3U : 0U)) % 4U);
}

bool QuicPacket::can_open() const noexcept {
    return type == QuicPacketType::Initial && bytes.size() >= number_at + kSampleEnd;
}

QuicHeaderOutcome read_long_header(ByteView datagram, QuicPacket& packet) noexcept {
    packet = {};
    ByteReader reader{datagram};
    const std::uint8_t first = reader.u8();
    if ((first & kLongForm) == 0) {
        return reader.ok() ? QuicHeaderOutcome::ShortHeader : QuicHeaderOutcome::Truncated;
    }
    packet.version = reader.be32();
    packet.type = long_header_type(first, packet.version);
    packet.dcid = reader.part8();
    packet.scid = reader.part8();
    if (is_known_quic_version(packet.version) &&
        (packet.dcid.size() > kMaxConnectionId || packet.scid.size() > kMaxConnectionId)) {
        return QuicHeaderOutcome::BadConnectionId;
    }
    if (!reader.ok() || !read_rest(reader, packet)) {
        return QuicHeaderOutcome::Truncated;
    }
    packet.bytes = datagram.first(reader.at());
    return QuicHeaderOutcome::Good;
}

}  // namespace sluice
