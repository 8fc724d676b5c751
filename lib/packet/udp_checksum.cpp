#include "lib/packet/udp_checksum.hpp"

#include <cstring>

namespace sluice {
namespace {

constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kLengthAt = 4;
constexpr std::size_t kChecksumAt = 6;
constexpr std::uint16_t kUdp = 17;

// RFC 1071: a sum of words as the machine loads them has its bytes swapped with theirs. An odd byte
// is the upper one of its word.
std::uint64_t sum_of(ByteView part) noexcept {
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (; part.size() - at >= sizeof(std::uint32_t); at += sizeof(std::uint32_t)) {
        std::uint32_t words = 0;
        std::memcpy(&words, part.data() + at, sizeof(words));
        sum += words;
    }
    std::uint32_t rest = 0;
    if (at < part.size()) {
        std::memcpy(&rest, part.data() + at, part.size() - at);
    }
    return sum + rest;
}

std::uint64_t word(std::uint16_t value) noexcept {
    return __builtin_bswap16(value);
}

}  // namespace

bool has_wrong_udp_checksum(IpVersion version, const IpAddress& src, const IpAddress& dst,
                            ByteView datagram) noexcept {
    if (datagram.size() < kUdpHeader || load_be16(datagram, kLengthAt) != datagram.size()) {
        return false;
    }
    const bool v6 = version == IpVersion::V6;
    if (load_be16(datagram, kChecksumAt) == 0) {
        return v6;
    }
    const std::size_t bytes = v6 ? 16 : 4;
    std::uint64_t sum = sum_of(ByteView{src.bytes}.first(bytes)) +
                        sum_of(ByteView{dst.bytes}.first(bytes)) + word(kUdp) +
                        word(static_cast<std::uint16_t>(datagram.size())) + sum_of(datagram);
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return sum != 0xFFFF;
}

bool has_wrong_udp_checksum(const PacketHeaders& headers, ByteView frame) noexcept {
    const std::size_t at = headers.l4_at;
    if (at > frame.size() || frame.size() - at < kUdpHeader) {
        return false;
    }
    const std::size_t size = load_be16(frame, at + kLengthAt);
    return size <= frame.size() - at &&
           has_wrong_udp_checksum(headers.ip_version, headers.src, headers.dst,
                                  frame.subspan(at, size));
}

}  // namespace sluice
