#include "control/time_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace sluice {
namespace {

constexpr std::uint64_t kSecondsInMinute = 60;
constexpr std::uint64_t kSecondsInHour = 60 * kSecondsInMinute;
constexpr std::uint64_t kSecondsInDay = 24 * kSecondsInHour;
// An hour and a half is "90m", four days are "96h": below so many, the larger unit hides more than
// it says.
constexpr std::uint64_t kMostOfLarge = 100;

struct UnitPair {
    std::uint64_t large;
    std::uint64_t small;
    std::string_view large_name;
    std::string_view small_name;
};

std::string in_pair(std::uint64_t seconds, const UnitPair& units) {
    const std::uint64_t rest = seconds % units.large / units.small;
    const std::string whole = fmt::format("{}{}", seconds / units.large, units.large_name);
    return rest == 0 ? whole : whole + fmt::format("{:02}{}", rest, units.small_name);
}

}  // namespace

std::string duration_text(std::uint64_t seconds) {
    if (seconds < kSecondsInMinute) {
        return fmt::format("{}s", seconds);
    }
    if (seconds < kMostOfLarge * kSecondsInMinute) {
        return in_pair(seconds, {kSecondsInMinute, 1, "m", "s"});
    }
    if (seconds < kMostOfLarge * kSecondsInHour) {
        return in_pair(seconds, {kSecondsInHour, kSecondsInMinute, "h", "m"});
    }
    return in_pair(seconds, {kSecondsInDay, kSecondsInHour, "d", "h"});
}

std::string time_text(std::int64_t nanoseconds) {
    constexpr std::int64_t kMinute = 60'000'000'000;
    if (nanoseconds >= kMinute) {
        return duration_text(
            static_cast<std::uint64_t>((nanoseconds + 500'000'000) / 1'000'000'000));
    }
    struct TimeUnit {
        double ns;
        std::string_view name;
    };
    constexpr auto kUnits =
        std::to_array<TimeUnit>({{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}});
    const auto ns = static_cast<double>(nanoseconds);
    // A number that would round to a thousand is one of the next unit.
    std::size_t unit = 0;
    while (unit + 1 < kUnits.size() && ns >= 999.5 * kUnits[unit].ns) {
        ++unit;
    }
    return fmt::format("{:.3g} {}", ns / kUnits[unit].ns, kUnits[unit].name);
}

}  // namespace sluice
