#include "control/simulation/day_tally.hpp"

#include "lib/base/local_days.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::int64_t kNsOfDay = std::int64_t{24} * 3600 * 1'000'000'000;

std::int64_t days_of(const DayWindowLimit& limit) noexcept {
    return limit.numbers.window / kNsOfDay;
}

// Downwards, as windows are numbered.
std::int64_t window_of_day(std::int64_t day, std::int64_t days) noexcept {
    return day / days - (day % days < 0 ? 1 : 0);
}

std::int64_t window_at(const DayWindowLimit& limit, Nanoseconds utc) noexcept {
    return window_of_day(day_at(*limit.zone, whole_seconds(utc)), days_of(limit));
}

}  // namespace

std::int64_t DayTally::index_at(Instant at) const noexcept {
    return window_at(limit_, start_ + at.time_since_epoch());
}

void DayTally::add(Instant asked, std::uint64_t units, bool admitted) {
    const std::int64_t index = index_at(asked);
    if (windows_.empty() || windows_.back().index != index) {
        if (windows_.size() == kMostTalliedDays) {
            left_out_ += left_out_ == 0 || last_left_out_ != index ? 1 : 0;
            last_left_out_ = index;
            return;
        }
        const std::int64_t days = days_of(limit_);
        windows_.push_back({.index = index,
                            .from = begin_of_day(*limit_.zone, index * days),
                            .to = begin_of_day(*limit_.zone, (index + 1) * days)});
    }
    windows_.back().offered += units;
    windows_.back().admitted += admitted ? units : 0;
}

std::uint64_t most_windows_touched(const DayWindowLimit& limit, Nanoseconds start,
                                   Nanoseconds length) noexcept {
    const Nanoseconds end = start + length;
    std::uint64_t most = 1;
    // A stretch touches most where it begins just before a window ends.
    for (std::int64_t index = window_at(limit, start);; ++index) {
        const std::int64_t edge = begin_of_day(*limit.zone, (index + 1) * days_of(limit));
        const Nanoseconds before = std::chrono::seconds{edge} - Nanoseconds{1};
        if (before >= end) {
            return most;
        }
        const Nanoseconds last =
            std::min(before + Nanoseconds{limit.numbers.window - 1}, end - Nanoseconds{1});
        most = std::max(most, static_cast<std::uint64_t>(window_at(limit, last) - index) + 1);
    }
}

}  // namespace sluice
