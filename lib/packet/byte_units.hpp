#pragma once
#include <cstdint>

namespace sluice {

inline constexpr std::uint32_t kLargestPaddedFrame = 60;  // Ethernet's minimum, without FCS

// The units that `per: byte` charges for an IP packet that claims `claimed` bytes, of which `there`
// came in a frame of `frame_size`.
[[nodiscard]] constexpr std::uint32_t byte_units(std::uint32_t claimed, std::uint32_t there,
                                                 std::uint32_t frame_size) noexcept {
    const bool more_than_padding = claimed < there && frame_size > kLargestPaddedFrame;
    return claimed == 0 || claimed > there || more_than_padding ? there : claimed;
}

}  // namespace sluice
