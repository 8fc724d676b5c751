#include "lib/act/normalize.hpp"

#include "lib/act/updated_checksum.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::size_t kFlagsAt = 12;  // with the data offset
constexpr std::size_t kChecksumAt = 16;
constexpr std::size_t kUrgentAt = 18;
constexpr std::uint16_t kUrg = 0x20;
constexpr std::size_t kTtlAt = 8;       // of IPv4, with the protocol behind it
constexpr std::size_t kHopLimitAt = 7;  // of IPv6

// Writes a word that the checksum covers.
void replace(MutableBytes frame, std::size_t at, std::size_t checksum_at,
             std::uint16_t after) noexcept {
    const std::uint16_t before = load_be16(frame, at);
    store_be16(frame, at, after);
    store_be16(frame, checksum_at, updated_checksum(load_be16(frame, checksum_at), before, after));
}

}  // namespace

void clear_urgent(MutableBytes frame, const PacketHeaders& headers) noexcept {
    const std::size_t at = headers.l4_at;
    if (headers.proto != kProtoTcp || at + kTcpMinSize > frame.size()) {
        return;
    }
    const std::size_t checksum_at = at + kChecksumAt;
    const std::uint16_t flags = load_be16(frame, at + kFlagsAt);
    replace(frame, at + kFlagsAt, checksum_at, static_cast<std::uint16_t>(flags & ~kUrg));
    replace(frame, at + kUrgentAt, checksum_at, 0);
}

void raise_ttl(MutableBytes frame, const PacketHeaders& headers, std::uint8_t least) noexcept {
    const std::size_t at = headers.l3_at;
    if (headers.ttl >= least || at == 0 || at + kIpv4MinSize > frame.size()) {
        return;
    }
    if (headers.ip_version == IpVersion::V4) {
        const std::uint16_t word = load_be16(frame, at + kTtlAt);
        replace(frame, at + kTtlAt, at + kIpv4ChecksumAt,
                static_cast<std::uint16_t>(least << 8 | (word & 0xFF)));
    } else if (headers.ip_version == IpVersion::V6) {
        frame[at + kHopLimitAt] = std::byte{least};
    }
}

}  // namespace sluice
