#include "lib/respond/answer/tcp_facts.hpp"

#include "lib/l7/byte_reader.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::uint8_t kOptionEnd = 0;
constexpr std::uint8_t kOptionNop = 1;
constexpr std::uint8_t kOptionTimestamps = 8;

// RFC 9293, 3.1. The length of an option counts its first two bytes; 40 bytes are all there can be.
void read_options(ByteView options, TcpFacts& facts) noexcept {
    ByteReader reader{options};
    while (reader.left() > 0) {
        const std::uint8_t kind = reader.u8();
        if (kind == kOptionEnd) {
            return;
        }
        if (kind == kOptionNop) {
            continue;
        }
        const std::uint8_t length = reader.u8();
        if (length < 2) {
            return;
        }
        const ByteView value = reader.take(length - 2U);
        if (kind == kOptionTimestamps && value.size() == 8) {
            facts.timestamps = TcpTimestamps{load_be32(value, 0), load_be32(value, 4)};
        }
    }
}

}  // namespace

std::optional<TcpFacts> read_tcp_facts(const PacketHeaders& headers, ByteView frame) noexcept {
    if (headers.proto != kProtoTcp || !headers.fields.has(Field::TcpFlags) ||
        headers.payload_at > frame.size()) {
        return std::nullopt;
    }
    const ByteView header = frame.subspan(headers.l4_at, headers.payload_at - headers.l4_at);
    TcpFacts facts{.seq = load_be32(header, 4),
                   .ack = load_be32(header, 8),
                   .flags = headers.tcp_flags,
                   .payload = headers.payload_len};
    read_options(header.subspan(kTcpMinSize), facts);
    return facts;
}

}  // namespace sluice
