#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

// What a regular expression will cost to look into and to compile, by its looks: it can be short
// and take Hyperscan minutes, since repeats are written out.
namespace sluice {

inline constexpr std::uint64_t kMostPlaces = 10'000;

struct PatternCost {
    std::uint64_t places = 0;   // of bytes, once every repeat is written out
    std::size_t beyond_at = 0;  // the repeat that takes it above kMostPlaces
    unsigned operators = 0;     // repeats and alternatives
};
[[nodiscard]] PatternCost cost_of(std::string_view regex);

// Takes next to no time to look into, or to compile.
[[nodiscard]] bool is_quick_to_read(const PatternCost& cost) noexcept;
[[nodiscard]] bool is_quick_to_compile(const PatternCost& cost) noexcept;

}  // namespace sluice
