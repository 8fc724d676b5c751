#pragma once
#include <cstdint>

namespace sluice {

// Keys from `first` up to the next step, or to the largest key, belong to `row`.
template <typename Key>
struct Step {
    Key first{};
    std::uint32_t row = 0;

    [[nodiscard]] constexpr bool operator==(const Step&) const noexcept = default;
};

// Bits of keys that are addresses.
inline constexpr unsigned kV4Bits = 32;
inline constexpr unsigned kV6Bits = 128;

}  // namespace sluice
