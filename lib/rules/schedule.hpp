#pragma once
#include "lib/base/units.hpp"
#include "lib/base/zone_offsets.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

inline constexpr std::int64_t kSecondsOfWeek = std::int64_t{7} * 24 * 3600;

// The hours of a week in which rules are active, by the wall clocks of a zone: active is a rule
// whenever such a clock shows a time within a range. So hours that a zone skips never come, and
// those that it has twice count twice.
struct Schedule {
    // Seconds since Monday 00:00; the end is not within.
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        [[nodiscard]] bool operator==(const Range&) const noexcept = default;
    };
    static constexpr std::size_t kMostRanges = 512;

    std::shared_ptr<const ZoneOffsets> zone;
    std::vector<Range> active;  // ascending, none touching the next

    [[nodiscard]] bool operator==(const Schedule& other) const noexcept {
        return active == other.active &&
               (zone == other.zone ||
                (zone != nullptr && other.zone != nullptr && *zone == *other.zone));
    }
};

// A rule names its schedule by number, from 1 on; 0: it is always active. All fit in the bits of a
// word.
inline constexpr std::size_t kMaxSchedules = 63;

struct ScheduleState {
    bool active = false;
    Nanoseconds until{};  // UTC; at the earliest it changes then
};
[[nodiscard]] ScheduleState state_at(const Schedule& schedule, Nanoseconds utc) noexcept;

// The next instant at which it becomes the other; kForever: none is near.
[[nodiscard]] Nanoseconds next_switch(const Schedule& schedule, Nanoseconds utc) noexcept;

[[nodiscard]] bool schedules_hold(const std::vector<Schedule>& schedules) noexcept;

}  // namespace sluice
