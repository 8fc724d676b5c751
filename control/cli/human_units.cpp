#include "control/cli/human_units.hpp"

#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace sluice {
namespace {

// Three digits that count: 1.23, 12.3, 123; whole numbers stay whole.
std::string scaled(double amount, std::string_view unit) {
    constexpr auto kPrefixes = std::to_array<std::string_view>({"", "k", "M", "G", "T", "P", "E"});
    std::size_t prefix = 0;
    while (amount >= 999.5 && prefix + 1 < kPrefixes.size()) {
        amount /= 1000;
        ++prefix;
    }
    const int digits = prefix == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", amount, digits, kPrefixes[prefix], unit);
}

}  // namespace

std::string left_text(double seconds) {
    return seconds < 1 ? fmt::format("{:.0f}ms", seconds * 1'000)
                       : duration_text(static_cast<std::uint64_t>(std::llround(seconds)));
}

std::string bit_rate_text(double bits_per_second) {
    return scaled(std::round(bits_per_second), "bit/s");
}

std::string byte_count_text(std::uint64_t bytes) {
    return scaled(static_cast<double>(bytes), "B");
}

std::string counted(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

}  // namespace sluice
