#include "lib/bucket/meter/fixed_window.hpp"

#include "lib/share/word.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The time that the windows of a limit are laid on, in ns.
std::int64_t time_of(const FixedWindowLimit& limit, Now now) noexcept {
    return limit.phase == WindowPhase::Clock ? now.window_time(limit.numbers.window).count()
                                             : now.at.time_since_epoch().count();
}

std::int64_t floor_divide(std::int64_t dividend, std::int64_t divisor) noexcept {
    const std::int64_t quotient = dividend / divisor;
    return dividend % divisor < 0 ? quotient - 1 : quotient;
}

}  // namespace

FixedWindow FixedWindow::fresh(const FixedWindowLimit& limit, GroupKey key) noexcept {
    FixedWindow window;
    if (limit.phase == WindowPhase::Clock) {
        window.offset_ = limit.utc_offset;
    } else if (limit.phase == WindowPhase::PerKey) {
        const auto length = static_cast<std::uint64_t>(limit.numbers.window);
        window.offset_ = static_cast<std::int64_t>(key.hash % length);
    }
    return window;
}

std::int64_t FixedWindow::index_at(const FixedWindowLimit& limit, Now now) const noexcept {
    return floor_divide(time_of(limit, now) + offset_, limit.numbers.window);
}

bool FixedWindow::over(const FixedWindowLimit& limit, Now now) const noexcept {
    return index_at(limit, now) > index_;
}

std::uint64_t FixedWindow::used_at(const FixedWindowLimit& limit, Now now) const noexcept {
    return over(limit, now) ? 0 : used_;
}

// A window that is further ahead than the next was counted before the clock was set back and the
// process began anew: what it has used counts until the next has ended.
std::int64_t FixedWindow::current(const FixedWindowLimit& limit, Now now) const noexcept {
    const std::int64_t index = index_at(limit, now);
    return std::clamp(index_, index, index + 1);
}

Nanoseconds FixedWindow::until_end(const FixedWindowLimit& limit, Now now) const noexcept {
    const std::int64_t index = current(limit, now);
    const std::int64_t end = (index + 1) * limit.numbers.window - offset_;
    return Nanoseconds{end - time_of(limit, now)};
}

bool FixedWindow::admits(const FixedWindowLimit& limit, Now now, Units cost) const noexcept {
    return cost <= remaining(limit, now);
}

void FixedWindow::charge(const FixedWindowLimit& limit, Now now, Units cost) noexcept {
    if (limit.phase == WindowPhase::First && (used_ == 0 || over(limit, now))) {
        used_ = 0;
        offset_ = -time_of(limit, now);
        index_ = 0;
    } else if (over(limit, now)) {
        used_ = 0;
        index_ = index_at(limit, now);
    } else {
        index_ = current(limit, now);
    }
    used_ += cost.count();
}

Units FixedWindow::remaining(const FixedWindowLimit& limit, Now now) const noexcept {
    const std::uint64_t used = used_at(limit, now);
    return Units{limit.numbers.count - std::min(used, limit.numbers.count)};
}

std::optional<Nanoseconds> FixedWindow::wait(const FixedWindowLimit& limit, Now now,
                                             Units cost) const noexcept {
    if (cost.count() > limit.numbers.count) {
        return std::nullopt;
    }
    return admits(limit, now, cost) ? Nanoseconds{0} : until_end(limit, now);
}

void FixedWindow::give_back(const FixedWindowLimit& limit, Now now, Units units) noexcept {
    used_ = used_at(limit, now);
    used_ -= std::min(used_, units.count());
}

bool FixedWindow::forgive_excess(const FixedWindowLimit& limit, Now now) noexcept {
    const bool exceeds = used_at(limit, now) > limit.numbers.count;
    if (exceeds) {
        used_ = limit.numbers.count;
    }
    return exceeds;
}

Units FixedWindow::used(const FixedWindowLimit& limit, Now now) const noexcept {
    return Units{used_at(limit, now)};
}

WindowCounts FixedWindow::counts(const FixedWindowLimit& limit, Now now) const noexcept {
    return {current(limit, now), used_at(limit, now), 0};
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

Instant FixedWindow::fresh_from(const FixedWindowLimit& limit, Now now) const noexcept {
    if (used_at(limit, now) != 0) {
        const Nanoseconds left = until_end(limit, now);
        const Nanoseconds window{limit.numbers.window};
        // The clock may be set back before that has passed.
        const bool lingers = limit.phase == WindowPhase::Clock;
        return now.at + (lingers ? std::min(left + window, 2 * window) : left);
    }
    const bool ahead = index_ > index_at(limit, now);
    return ahead ? now.at + until_end(limit, now) - Nanoseconds{limit.numbers.window} : now.at;
}

}  // namespace sluice
