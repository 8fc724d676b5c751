#pragma once
#include <cstdint>

namespace sluice {

// What normalising changes in a frame that is forwarded.
struct Normalization {
    bool clears_urgent = false;
    std::uint8_t min_ttl = 0;  // the least time to live that it has then; 0: as it came

    [[nodiscard]] bool any() const noexcept { return clears_urgent || min_ttl != 0; }
};

}  // namespace sluice
