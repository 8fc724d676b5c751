#pragma once
#include <cstdint>

namespace sluice {

// RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
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
