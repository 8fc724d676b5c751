#pragma once
#include <cstdint>

namespace sluice {

// The packets of one watched key in one epoch, under one limit: of all workers that met it.
struct HeatSample {
    static constexpr unsigned kDigestBits = 40;
    static constexpr std::uint8_t kFull = 255;

    std::uint64_t digest = 0;   // of the key under the limit; kDigestBits
    std::uint32_t offered = 0;  // units as the limit counts them, at most UINT32_MAX
    std::uint32_t refused = 0;  // of these
    // 0: the limit refused one of them, or the key is banned. Else the least that the key had left
    // behind one, in 255ths of the most that the limit holds, rounded up, and 1 if nothing was.
    std::uint8_t least_left = kFull;

    [[nodiscard]] bool operator==(const HeatSample&) const noexcept = default;
};

}  // namespace sluice
