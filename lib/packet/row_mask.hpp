#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Packets that go through the stages together. A row is a packet's number in its burst.
inline constexpr std::size_t kMaxBurst = 32;

// A set of rows: bit i stands for row i.
using RowMask = std::uint32_t;
static_assert(kMaxBurst == 8 * sizeof(RowMask), "one bit for each row");

// The first `count` rows, at most kMaxBurst.
[[nodiscard]] constexpr RowMask first_rows(std::size_t count) noexcept {
    return static_cast<RowMask>((std::uint64_t{1} << count) - 1);
}

[[nodiscard]] constexpr RowMask row_bit(std::size_t row) noexcept {
    return RowMask{1} << row;
}

[[nodiscard]] constexpr bool has_row(RowMask rows, std::size_t row) noexcept {
    return (rows >> row & 1) != 0;
}

// Calls visit(row) for each row of the set, in ascending order.
template <typename Visit>
constexpr void for_each_row(RowMask rows, Visit&& visit) {
    for (; rows != 0; rows &= rows - 1) {
        visit(static_cast<std::size_t>(std::countr_zero(rows)));
    }
}

}  // namespace sluice
