#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace sluice {

// Keys from `first` up to the next step, or to the largest key, belong to `row`.
template <typename Key>
struct Step {
    Key first{};
    std::uint32_t row = 0;

    [[nodiscard]] constexpr bool operator==(const Step&) const noexcept = default;
};

// The last step that begins at the key or before it; the first begins at 0.
template <typename Key>
[[nodiscard]] const Step<Key>& step_of(std::span<const Step<Key>> steps, Key key) noexcept {
    const auto next = std::upper_bound(
        steps.begin(), steps.end(), key,
        [](const Key& wanted, const Step<Key>& step) { return wanted < step.first; });
    return *(next - 1);
}

// Bits of keys that are addresses.
inline constexpr unsigned kV4Bits = 32;
inline constexpr unsigned kV6Bits = 128;

}  // namespace sluice
