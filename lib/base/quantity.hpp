#pragma once
#include <compare>
#include <cstdint>

namespace sluice {

// A number that knows what it counts: Bytes and Packets do not add up.
template <typename Tag>
class Quantity {
public:
    constexpr Quantity() noexcept = default;
    constexpr explicit Quantity(std::uint64_t count) noexcept : count_{count} {}

    [[nodiscard]] constexpr std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] constexpr auto operator<=>(const Quantity&) const noexcept = default;

    friend constexpr Quantity operator+(Quantity a, Quantity b) noexcept {
        return Quantity{a.count_ + b.count_};
    }

private:
    std::uint64_t count_{0};
};

}  // namespace sluice
