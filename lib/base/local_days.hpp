#pragma once
#include "lib/base/zone_offsets.hpp"

#include <algorithm>
#include <cstdint>

// The days of a zone by its wall clocks, numbered from 1970-01-01 on:
//
//   |-- day d --|-- d+1 --|------ d+2 ------|-- d+3 --|     24 hours
//               |  23, clocks go ahead      |
//                         25, clocks go back
//
// A day begins when a clock shows its date, or a later one, for the first time: at midnight, or
// where clocks skip midnight just then, and only once where they show it twice. A date that clocks
// skip is a day without length.
namespace sluice {

inline constexpr std::int64_t kSecondsOfLocalDay = std::int64_t{24} * 3600;

// UTC, seconds since 1970. A search among the changes of the zone, or two.
[[nodiscard]] inline std::int64_t begin_of_day(const ZoneOffsets& zone, std::int64_t day) noexcept {
    const std::int64_t midnight = day * kSecondsOfLocalDay;  // as a clock shows it
    std::int64_t from = midnight - ZoneOffsets::kMostAhead;  // no clock shows it before
    for (;;) {
        const ZoneOffsets::Offset offset = zone.at(from);
        const std::int64_t at = std::max(from, midnight - offset.ahead);
        if (at < offset.until) {
            return at;
        }
        from = offset.until;
    }
}

[[nodiscard]] inline std::int64_t day_at(const ZoneOffsets& zone, std::int64_t utc) noexcept {
    const std::int64_t local = utc + zone.at(utc).ahead;
    std::int64_t day = local / kSecondsOfLocalDay - (local % kSecondsOfLocalDay < 0 ? 1 : 0);
    // The clocks may have gone back over a midnight.
    while (begin_of_day(zone, day + 1) <= utc) {
        ++day;
    }
    return day;
}

}  // namespace sluice
