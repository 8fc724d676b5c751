#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstdint>

namespace sluice {

// RFC 1071: the one's complement of the one's complement sum of 16-bit words. All parts but the
// last have an even number of bytes.
class InternetChecksum {
public:
    void add(ByteView part) noexcept;
    void add_be16(std::uint16_t word) noexcept { sum_ += __builtin_bswap16(word); }
    // Adds what TCP and UDP cover besides their segment: RFC 9293, 3.1, and RFC 8200, 8.1.
    void add_pseudo_header(IpVersion version, const IpAddress& src, const IpAddress& dst,
                           std::uint8_t proto, std::uint16_t size) noexcept;

    [[nodiscard]] std::uint16_t value() const noexcept;

private:
    // A sum of words as the machine loads them: its bytes swap with theirs (RFC 1071, 2 (B)).
    std::uint64_t sum_ = 0;
};

// A checksum once one of the words that it covers is another: RFC 1624, 3, equation 3. One that was
// wrong stays wrong.
[[nodiscard]] constexpr std::uint16_t updated_checksum(std::uint16_t checksum, std::uint16_t before,
                                                       std::uint16_t after) noexcept {
    std::uint32_t sum = static_cast<std::uint16_t>(~checksum);
    sum += static_cast<std::uint16_t>(~before);
    sum += after;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

}  // namespace sluice
