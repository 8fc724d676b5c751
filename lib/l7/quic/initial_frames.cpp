#include "lib/l7/quic/initial_frames.hpp"

#include "lib/l7/quic/varint.hpp"

namespace sluice {
namespace {

// Types of frames.
constexpr std::uint64_t kPadding = 0x00;
constexpr std::uint64_t kPing = 0x01;
constexpr std::uint64_t kAck = 0x02;
constexpr std::uint64_t kAckWithEcn = 0x03;
constexpr std::uint64_t kCrypto = 0x06;
constexpr std::uint64_t kConnectionClose = 0x1C;

// PADDING is one byte each, and most of a client's first datagram: eight at a time.
void skip_padding(ByteReader& reader) noexcept {
    const ByteView rest = reader.rest();
    std::size_t size = 0;
    while (size + 8 <= rest.size() && load_be<std::uint64_t>(rest.data() + size) == 0) {
        size += 8;
    }
    while (size < rest.size() && rest[size] == std::byte{kPadding}) {
        ++size;
    }
    (void)reader.take(size);
}

// Ranges are two numbers of a byte at least, so their count cannot keep the loop for long.
void skip_ack(ByteReader& reader, bool ecn) noexcept {
    (void)read_varint(reader);  // largest acknowledged
    (void)read_varint(reader);  // delay
    std::uint64_t ranges = read_varint(reader);
    (void)read_varint(reader);  // first range
    for (; ranges > 0 && reader.ok(); --ranges) {
        (void)read_varint(reader);
        (void)read_varint(reader);
    }
    for (int counts = ecn ? 3 : 0; counts > 0; --counts) {
        (void)read_varint(reader);
    }
}

void skip_close(ByteReader& reader) noexcept {
    (void)read_varint(reader);  // error
    (void)read_varint(reader);  // type of the frame that caused it
    (void)take_varint_part(reader);
}

void keep_crypto(ByteReader& reader, CryptoStream& stream, InitialFrames& frames) noexcept {
    const std::uint64_t offset = read_varint(reader);
    const ByteView bytes = take_varint_part(reader);
    if (!reader.ok()) {
        return;
    }
    const CryptoAdd added = stream.add(offset, bytes);
    frames.has_crypto = true;
    frames.beyond_room = frames.beyond_room || added == CryptoAdd::BeyondRoom;
    frames.differs = frames.differs || added == CryptoAdd::Differs;
    frames.too_many_pieces = frames.too_many_pieces || added == CryptoAdd::TooManyPieces;
}

// False: not a frame of an Initial.
bool read_initial_frame(ByteReader& reader, CryptoStream& stream, InitialFrames& frames) noexcept {
    switch (const std::uint64_t type = read_varint(reader)) {
        case kPadding:
            skip_padding(reader);
            return true;
        case kPing:
            return true;
        case kAck:
        case kAckWithEcn:
            skip_ack(reader, type == kAckWithEcn);
            return true;
        case kCrypto:
            keep_crypto(reader, stream, frames);
            return true;
        case kConnectionClose:
            skip_close(reader);
            frames.closes = true;
            return true;
        default:
            return false;
    }
}

}  // namespace

InitialFrames read_initial_frames(ByteView payload, CryptoStream& stream) noexcept {
    InitialFrames frames{.allowed = !payload.empty()};
    for (ByteReader reader{payload}; frames.allowed && reader.left() > 0;) {
        frames.allowed = read_initial_frame(reader, stream, frames) && reader.ok();
    }
    return frames;
}

}  // namespace sluice
