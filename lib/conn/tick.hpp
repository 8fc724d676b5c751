#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// Ages in the tables of this layer: ticks of about a millisecond, 32 bits of which last for seven
// weeks, longer than any time-out.
[[nodiscard]] constexpr std::uint32_t ticks_of(Nanoseconds time) noexcept {
    constexpr int kShift = 20;
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(time.count()) >> kShift);
}

}  // namespace sluice
