#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

// How large a regular expression is once its repeats are written out: a short one can be too large
// to be looked into in this process.
namespace sluice {

inline constexpr std::uint64_t kMostPlaces = 10'000;

struct PatternCost {
    std::uint64_t places = 0;   // of bytes, once every repeat is written out
    std::size_t beyond_at = 0;  // the repeat that takes it above kMostPlaces
};
[[nodiscard]] PatternCost cost_of(std::string_view regex);

// Takes next to no time to look into.
[[nodiscard]] bool is_quick_to_read(const PatternCost& cost) noexcept;

}  // namespace sluice
