#include "lib/pipeline/tcp_connection.hpp"

#include <span>
#include <type_traits>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint16_t kFin = 0x01;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kRst = 0x04;
constexpr std::uint16_t kAck = 0x10;

struct Ends {
    IpAddress low;
    IpAddress high;
    std::uint16_t low_port;
    std::uint16_t high_port;
    std::uint32_t version;
};
static_assert(std::has_unique_object_representations_v<Ends>, "its bytes are hashed");

}  // namespace

ConnectionSegment connection_segment(const PacketHeaders& headers, ByteView frame,
                                     const KeyHasher& hash) noexcept {
    const bool from_low =
        std::pair{headers.src, headers.sport} <= std::pair{headers.dst, headers.dport};
    const Ends ends{.low = from_low ? headers.src : headers.dst,
                    .high = from_low ? headers.dst : headers.src,
                    .low_port = from_low ? headers.sport : headers.dport,
                    .high_port = from_low ? headers.dport : headers.sport,
                    .version = static_cast<std::uint32_t>(headers.ip_version)};
    const auto has = [&](std::uint16_t flag) { return (headers.tcp_flags & flag) != 0; };
    return {.digest = hash.digest(std::as_bytes(std::span{&ends, 1})),
            .seq = load_be32(frame, headers.l4_at + 4U),
            .ack = load_be32(frame, headers.l4_at + 8U),
            .payload = headers.payload_len,
            .from = static_cast<ConnectionEnd>(from_low ? 0 : 1),
            .has_ack = has(kAck),
            .syn = has(kSyn),
            .fin = has(kFin),
            .rst = has(kRst)};
}

}  // namespace sluice
