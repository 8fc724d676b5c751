#pragma once
#include <cstdint>

namespace sluice {

// From `first` up to the next step, or to the largest key, a key belongs to `row`.
template <typename Key>
struct Step {
    Key first{};
    std::uint32_t row = 0;

    [[nodiscard]] constexpr bool operator==(const Step&) const noexcept = default;
};

}  // namespace sluice
