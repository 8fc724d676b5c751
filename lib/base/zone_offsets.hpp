#pragma once
#include "lib/base/units.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sluice {

// The wall clocks of a time zone: how far they are ahead of UTC, and when that changes. Plain data,
// so that whoever follows it needs no database of zones.
struct ZoneOffsets {
    struct Change {
        std::int64_t at = 0;     // UTC, seconds since 1970
        std::int32_t ahead = 0;  // from then on, seconds
        [[nodiscard]] bool operator==(const Change&) const noexcept = default;
    };
    static constexpr std::int32_t kMostAhead = 26 * 3600;
    static constexpr std::size_t kMostChanges = 1024;
    // No change lies beyond this, nor before 1970: what holds at either end goes on.
    static constexpr std::int64_t kEnd = std::int64_t{1} << 32;

    std::string name;
    std::int32_t first = 0;  // before the first change
    std::vector<Change> changes;

    [[nodiscard]] bool operator==(const ZoneOffsets&) const noexcept = default;

    struct Offset {
        std::int64_t ahead = 0;
        std::int64_t until = std::numeric_limits<std::int64_t>::max();  // the next change
    };
    [[nodiscard]] Offset at(std::int64_t utc) const noexcept {
        const auto next = std::upper_bound(
            changes.begin(), changes.end(), utc,
            [](std::int64_t time, const Change& change) { return time < change.at; });
        Offset offset;
        offset.ahead = next == changes.begin() ? first : std::prev(next)->ahead;
        if (next != changes.end()) {
            offset.until = next->at;
        }
        return offset;
    }
};

// Whole seconds, downwards.
[[nodiscard]] constexpr std::int64_t whole_seconds(Nanoseconds time) noexcept {
    return std::chrono::floor<std::chrono::seconds>(time).count();
}

[[nodiscard]] inline bool offsets_hold(const ZoneOffsets& zone) noexcept {
    const auto holds = [](std::int32_t ahead) {
        return ahead >= -ZoneOffsets::kMostAhead && ahead <= ZoneOffsets::kMostAhead;
    };
    std::int64_t last = -1;
    return holds(zone.first) && zone.changes.size() <= ZoneOffsets::kMostChanges &&
           std::all_of(zone.changes.begin(), zone.changes.end(),
                       [&](const ZoneOffsets::Change& change) {
                           const bool follows = change.at > last && change.at < ZoneOffsets::kEnd;
                           last = change.at;
                           return follows && holds(change.ahead);
                       });
}

}  // namespace sluice
