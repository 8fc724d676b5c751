#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// Ages in the tables of this layer: ticks of about a millisecond, 32 bits of which last for seven
// weeks, longer than any time-out.
inline constexpr int kTickShift = 20;
[[nodiscard]] constexpr std::uint32_t ticks_of(Nanoseconds time) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(time.count()) >> kTickShift);
}
[[nodiscard]] constexpr Nanoseconds time_of(std::uint32_t ticks) noexcept {
    return Nanoseconds{std::int64_t{ticks} << kTickShift};
}

}  // namespace sluice
