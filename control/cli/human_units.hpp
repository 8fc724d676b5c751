#pragma once
#include "control/time_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Amounts as people say them.
namespace sluice {

// The time left: "340ms" below a second, else as duration_text(). All that lists or shows in how
// long a key is fresh, or its ban ends, says it so.
[[nodiscard]] std::string left_text(double seconds);

// Three digits and a unit of 1000: "950 bit/s", "1.23 Mbit/s"; "64 B", "1.5 kB".
[[nodiscard]] std::string bit_rate_text(double bits_per_second);
[[nodiscard]] std::string byte_count_text(std::uint64_t bytes);

// "1 frame", "1,200 frames".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace sluice
