#include "lib/packet/internet_checksum.hpp"

#include <cstring>

namespace sluice {

void InternetChecksum::add(ByteView part) noexcept {
    std::size_t at = 0;
    for (; part.size() - at >= sizeof(std::uint32_t); at += sizeof(std::uint32_t)) {
        std::uint32_t words = 0;
        std::memcpy(&words, part.data() + at, sizeof(words));
        sum_ += words;
    }
    if (at != part.size()) {
        std::uint32_t rest = 0;  // an odd byte is the upper one of its word
        std::memcpy(&rest, part.data() + at, part.size() - at);
        sum_ += rest;
    }
}

void InternetChecksum::add_pseudo_header(IpVersion version, const IpAddress& src,
                                         const IpAddress& dst, std::uint8_t proto,
                                         std::uint16_t size) noexcept {
    const std::size_t bytes = version == IpVersion::V4 ? 4 : 16;
    add(ByteView{src.bytes}.first(bytes));
    add(ByteView{dst.bytes}.first(bytes));
    add_be16(proto);
    add_be16(size);
}

std::uint16_t InternetChecksum::value() const noexcept {
    std::uint64_t sum = sum_;
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return __builtin_bswap16(static_cast<std::uint16_t>(~sum));
}

}  // namespace sluice
