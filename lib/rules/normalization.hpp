#pragma once
#include <cstdint>

namespace sluice {

// Changes that normalising makes to a frame that is forwarded.
struct Normalization {
    bool clears_urgent = false;
    std::uint8_t raises_to = 0;  // its time to live from then on; 0: as it came

    [[nodiscard]] bool any() const noexcept { return clears_urgent || raises_to != 0; }
};

}  // namespace sluice
