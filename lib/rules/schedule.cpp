#include "lib/rules/schedule.hpp"

#include "lib/rules/overrides.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kSecondsOfDay = 24 * 3600;
// 1970 began on a Thursday.
constexpr std::int64_t kFirstMonday = 4 * kSecondsOfDay;

// Instants beyond these have no nanoseconds since 1970.
constexpr std::int64_t kMostSeconds = std::chrono::floor<std::chrono::seconds>(kForever).count();

Nanoseconds instant_of(std::int64_t seconds) noexcept {
    if (seconds >= kMostSeconds) {
        return kForever;
    }
    return std::chrono::seconds{std::max(seconds, -kMostSeconds)};
}

std::int64_t second_of_week(std::int64_t local) noexcept {
    const std::int64_t second = (local - kFirstMonday) % kSecondsOfWeek;
    return second < 0 ? second + kSecondsOfWeek : second;
}

bool is_sound(const Schedule& schedule) noexcept {
    std::int64_t last = -1;
    return schedule.zone != nullptr && offsets_hold(*schedule.zone) &&
           schedule.active.size() <= Schedule::kMostRanges &&
           std::all_of(
               schedule.active.begin(), schedule.active.end(), [&](const Schedule::Range& range) {
                   const bool follows =
                       range.begin > last && range.begin < range.end && range.end <= kSecondsOfWeek;
                   last = range.end;
                   return follows;
               });
}

}  // namespace

ScheduleState state_at(const Schedule& schedule, Nanoseconds utc) noexcept {
    const std::int64_t now = whole_seconds(utc);
    const ZoneOffsets::Offset offset = schedule.zone->at(now);
    const std::int64_t second = second_of_week(now + offset.ahead);
    const auto range = std::upper_bound(
        schedule.active.begin(), schedule.active.end(), second,
        [](std::int64_t time, const Schedule::Range& one) { return time < one.end; });
    std::int64_t boundary = kSecondsOfWeek;
    bool active = false;
    if (range != schedule.active.end()) {
        active = range->begin <= second;
        boundary = active ? range->end : range->begin;
    }
    const std::int64_t until = std::min(now + boundary - second, offset.until);
    return {.active = active, .until = instant_of(until)};
}

Nanoseconds next_switch(const Schedule& schedule, Nanoseconds utc) noexcept {
    // A week has no more boundaries than its ranges, and changes of a zone's offset come between.
    constexpr std::size_t kMostSteps = 4 * Schedule::kMostRanges;
    const bool active = state_at(schedule, utc).active;
    Nanoseconds at = utc;
    for (std::size_t step = 0; step < kMostSteps && at != kForever; ++step) {
        at = state_at(schedule, at).until;
        if (at != kForever && state_at(schedule, at).active != active) {
            return at;
        }
    }
    return kForever;
}

bool schedules_hold(const std::vector<Schedule>& schedules) noexcept {
    return schedules.size() <= kMaxSchedules &&
           std::all_of(schedules.begin(), schedules.end(), is_sound);
}

}  // namespace sluice
