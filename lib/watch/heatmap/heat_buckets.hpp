#pragma once
#include "lib/watch/heatmap/heat_sample.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

// Rows of the two heat maps. They are fixed, so that columns of any time, worker or limit add up.
namespace sluice {

// Units that a group offered in a column: 0 has a row of its own; row k from 1 on has
// 2^((k-1)/2) up to, not including, 2^(k/2). More than 2^40 is in the last one.
inline constexpr std::size_t kOfferedBuckets = 81;
// The least that a group had left of its limit: row 0 has those that it refused ("refused now"),
// rows 1 to 16 a sixteenth each, from nothing on, and the last those that had all of it.
inline constexpr std::size_t kLeftBuckets = 18;

[[nodiscard]] constexpr std::size_t offered_bucket(std::uint64_t units) noexcept {
    constexpr std::uint64_t kRootOfTwo = 0xB504'F333'F9DE'6484;  // times 2^63, rounded down
    if (units == 0) {
        return 0;
    }
    const auto octave = static_cast<unsigned>(std::bit_width(units)) - 1;
    const bool upper_half = units > kRootOfTwo >> (63 - octave);
    const std::size_t bucket = 2 * std::size_t{octave} + 1 + (upper_half ? 1 : 0);
    return bucket < kOfferedBuckets ? bucket : kOfferedBuckets - 1;
}

[[nodiscard]] constexpr std::size_t left_bucket(std::uint8_t least_left) noexcept {
    if (least_left == 0) {
        return 0;
    }
    return least_left == HeatSample::kFull ? kLeftBuckets - 1
                                           : 1 + std::size_t{least_left} * 16 / HeatSample::kFull;
}

// The least units of a row; `bucket` may be kOfferedBuckets: the end of the last one.
[[nodiscard]] inline double offered_edge(std::size_t bucket) noexcept {
    return bucket == 0 ? 0 : std::exp2(static_cast<double>(bucket - 1) / 2);
}
// The least part of the limit, from 0 to 1, of a row.
[[nodiscard]] constexpr double left_edge(std::size_t bucket) noexcept {
    return bucket == 0 ? 0 : static_cast<double>(bucket - 1) / 16;
}

// The lengths of columns, in seconds; each is a whole number of all shorter ones.
inline constexpr auto kColumnSteps = std::to_array<unsigned>({1, 5, 10, 30, 60});

// The step that is nearest to a window: the one with the least ratio to it, the shorter of two.
[[nodiscard]] constexpr unsigned column_step(double window_s) noexcept {
    for (std::size_t i = 0; i + 1 < kColumnSteps.size(); ++i) {
        if (window_s * window_s <= double{1} * kColumnSteps[i] * kColumnSteps[i + 1]) {
            return kColumnSteps[i];
        }
    }
    return kColumnSteps.back();
}

}  // namespace sluice
