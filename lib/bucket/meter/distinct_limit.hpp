#pragma once
#include "lib/bucket/meter/window_limit.hpp"

namespace sluice {

// The largest count that a limit of different values has: each of them is kept.
inline constexpr std::uint64_t kMostDistinct = 200;
// The same times a factor, for keys that stand for many; values beyond those that are kept count
// one by one there.
inline constexpr std::uint64_t kMostScaledDistinct = (std::uint64_t{1} << 24) - 1;
inline constexpr Nanoseconds kShortestDistinctWindow = std::chrono::seconds{1};

// How many different values of a field a key may show in a window.
struct DistinctLimit {
    WindowNumbers numbers;
    // Half of the window, rounded up: any window touches three halves at most.
    [[nodiscard]] std::int64_t half() const noexcept { return (numbers.window + 1) / 2; }
    [[nodiscard]] bool operator==(const DistinctLimit&) const noexcept = default;
    [[nodiscard]] Result<DistinctLimit> checked() const;
    static void fields(auto& archive, auto& m) { archive(m.numbers); }
};

// Like make_window_numbers(), of a count that a rule may have.
[[nodiscard]] Result<DistinctLimit> make_distinct(Units count, Nanoseconds window);

}  // namespace sluice
