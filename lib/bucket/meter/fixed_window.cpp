#include "lib/bucket/meter/fixed_window.hpp"

#include "lib/base/local_days.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;  // ns

// The time that the windows of a limit are laid on, in ns.
std::int64_t time_of(const FixedWindowLimit& limit, Now now) noexcept {
    return limit.is_by_utc() ? now.window_time(limit.numbers.window).count()
                             : now.at.time_since_epoch().count();
}

std::int64_t time_of(const DayWindowLimit& /*limit*/, Now now) noexcept {
    return now.utc().count();
}

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) noexcept {
    const std::int64_t quotient = dividend / divisor;
    return dividend % divisor < 0 ? quotient - 1 : quotient;
}

std::int64_t days_of(const DayWindowLimit& limit) noexcept {
    return limit.numbers.window / std::chrono::nanoseconds{std::chrono::hours{24}}.count();
}

// Windows whose numbers have gone on since UTC was set back (Now::window_time).
std::int64_t windows_set_back(const DayWindowLimit& limit, Now now) noexcept {
    return now.set_back.count() / limit.numbers.window;
}

// The clock may be set back before the end of a window has come.
bool lingers(const FixedWindowLimit& limit) noexcept {
    return limit.is_by_utc();
}
bool lingers(const DayWindowLimit& /*limit*/) noexcept {
    return true;
}

bool begins_with_unit(const FixedWindowLimit& limit) noexcept {
    return limit.phase == WindowPhase::First;
}
bool begins_with_unit(const DayWindowLimit& /*limit*/) noexcept {
    return false;
}

}  // namespace

FixedWindow FixedWindow::fresh(const FixedWindowLimit& limit, GroupKey key) noexcept {
    FixedWindow window;
    if (limit.phase == WindowPhase::Clock) {
        window.offset_ = limit.utc_offset;
    } else if (limit.phase == WindowPhase::PerKey) {
        window.offset_ = offset_of_key(limit, key);
    }
    return window;
}

std::int64_t offset_of_key(const FixedWindowLimit& limit, GroupKey key) noexcept {
    const std::int64_t unit = limit.clock == WindowClock::Utc ? kMicrosecond : 1;
    const auto units = static_cast<std::uint64_t>(limit.numbers.window / unit);
    return static_cast<std::int64_t>(key.hash % units) * unit;
}

std::int64_t FixedWindow::index_at(const FixedWindowLimit& limit, Now now) const noexcept {
    return floor_divide(time_of(limit, now) + offset_, limit.numbers.window);
}

std::int64_t FixedWindow::index_at(const DayWindowLimit& limit, Now now) noexcept {
    const std::int64_t day = day_at(*limit.zone, whole_seconds(now.utc()));
    return floor_divide(day, days_of(limit)) + windows_set_back(limit, now);
}

Nanoseconds FixedWindow::until_begin(const FixedWindowLimit& limit, Now now,
                                     std::int64_t index) const noexcept {
    return Nanoseconds{index * limit.numbers.window - offset_ - time_of(limit, now)};
}

Nanoseconds FixedWindow::until_begin(const DayWindowLimit& limit, Now now,
                                     std::int64_t index) noexcept {
    const std::int64_t day = (index - windows_set_back(limit, now)) * days_of(limit);
    return std::chrono::seconds{begin_of_day(*limit.zone, day)} - now.utc();
}

// A window that is further ahead than the next was counted before the clock was set back and the
// process began anew: what it has used counts until the next has ended.
std::int64_t FixedWindow::current(std::int64_t index) const noexcept {
    return std::clamp(index_, index, index + 1);
}

template <FixedNumbers Numbers>
void FixedWindow::charge(const Numbers& limit, Now now, Units cost) noexcept {
    const std::int64_t index = index_at(limit, now);
    if (begins_with_unit(limit) && (used_ == 0 || is_over(index))) {
        used_ = 0;
        offset_ = -time_of(limit, now);
        index_ = 0;
    } else if (is_over(index)) {
        used_ = 0;
        index_ = index;
    } else {
        index_ = current(index);
    }
    used_ += cost.count();
}

template <FixedNumbers Numbers>
Units FixedWindow::remaining(const Numbers& limit, Now now) const noexcept {
    const std::uint64_t used = used_at(index_at(limit, now));
    return Units{limit.numbers.count - std::min(used, limit.numbers.count)};
}

template <FixedNumbers Numbers>
std::optional<Nanoseconds> FixedWindow::wait(const Numbers& limit, Now now,
                                             Units cost) const noexcept {
    if (cost.count() > limit.numbers.count) {
        return std::nullopt;
    }
    if (admits(limit, now, cost)) {
        return Nanoseconds{0};
    }
    return until_begin(limit, now, current(index_at(limit, now)) + 1);
}

template <FixedNumbers Numbers>
void FixedWindow::give_back(const Numbers& limit, Now now, Units units) noexcept {
    used_ = used_at(index_at(limit, now));
    used_ -= std::min(used_, units.count());
}

template <FixedNumbers Numbers>
bool FixedWindow::forgive_excess(const Numbers& limit, Now now) noexcept {
    const bool exceeds = used_at(index_at(limit, now)) > limit.numbers.count;
    if (exceeds) {
        used_ = limit.numbers.count;
    }
    return exceeds;
}

template <FixedNumbers Numbers>
Units FixedWindow::used(const Numbers& limit, Now now) const noexcept {
    return Units{used_at(index_at(limit, now))};
}

template <FixedNumbers Numbers>
WindowCounts FixedWindow::counts(const Numbers& limit, Now now) const noexcept {
    const std::int64_t index = index_at(limit, now);
    return {current(index), used_at(index), 0};
}

// Empty before it is another window: nothing of one counts in the next.
void FixedWindow::set_counts(const WindowCounts& counts) noexcept {
    if (counts.epoch < index_) {
        index_ = counts.epoch;
    } else if (counts.epoch != index_) {
        used_ = 0;
        keep_store_order();
        index_ = counts.epoch;
        keep_store_order();
    }
    used_ = counts.current;
}

template <FixedNumbers Numbers>
Instant FixedWindow::fresh_from(const Numbers& limit, Now now) const noexcept {
    const std::int64_t index = index_at(limit, now);
    if (used_at(index) != 0) {
        const Nanoseconds left = until_begin(limit, now, current(index) + 1);
        const Nanoseconds window{limit.numbers.window};
        return now.at + (lingers(limit) ? std::min(left + window, 2 * window) : left);
    }
    return index_ > index ? now.at + until_begin(limit, now, current(index)) : now.at;
}

void FixedWindow::renumber(const DayWindowLimit& from, const DayWindowLimit& to,
                           Now changed) noexcept {
    const std::int64_t before = index_at(from, changed);
    const std::int64_t after = index_at(to, changed);
    if (used_at(before) == 0) {
        used_ = 0;
        keep_store_order();
        index_ = after;
        return;
    }
    const Nanoseconds left = until_begin(from, changed, current(before) + 1);
    const Instant last = changed.at + left - Nanoseconds{1};
    index_ = std::max(after, index_at(to, changed.moved_to(last)));
}

// Both kinds of numbers.
template void FixedWindow::charge(const FixedWindowLimit&, Now, Units) noexcept;
template void FixedWindow::charge(const DayWindowLimit&, Now, Units) noexcept;
template Units FixedWindow::remaining(const FixedWindowLimit&, Now) const noexcept;
template Units FixedWindow::remaining(const DayWindowLimit&, Now) const noexcept;
template std::optional<Nanoseconds> FixedWindow::wait(const FixedWindowLimit&, Now,
                                                      Units) const noexcept;
template std::optional<Nanoseconds> FixedWindow::wait(const DayWindowLimit&, Now,
                                                      Units) const noexcept;
template void FixedWindow::give_back(const FixedWindowLimit&, Now, Units) noexcept;
template void FixedWindow::give_back(const DayWindowLimit&, Now, Units) noexcept;
template bool FixedWindow::forgive_excess(const FixedWindowLimit&, Now) noexcept;
template bool FixedWindow::forgive_excess(const DayWindowLimit&, Now) noexcept;
template Units FixedWindow::used(const FixedWindowLimit&, Now) const noexcept;
template Units FixedWindow::used(const DayWindowLimit&, Now) const noexcept;
template WindowCounts FixedWindow::counts(const FixedWindowLimit&, Now) const noexcept;
template WindowCounts FixedWindow::counts(const DayWindowLimit&, Now) const noexcept;
template Instant FixedWindow::fresh_from(const FixedWindowLimit&, Now) const noexcept;
template Instant FixedWindow::fresh_from(const DayWindowLimit&, Now) const noexcept;

}  // namespace sluice
