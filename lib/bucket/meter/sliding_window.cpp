#include "lib/bucket/meter/sliding_window.hpp"

#include "lib/share/word.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The least e at which previous * (W - e) <= room * W; at most W, where nothing is left of it.
std::uint64_t first_fit(std::uint64_t previous, std::uint64_t room, std::uint64_t length) noexcept {
    if (previous <= room) {
        return 0;
    }
    return length - static_cast<std::uint64_t>(static_cast<Wide>(room) * length / previous);
}

}  // namespace

SlidingWindow SlidingWindow::moved_to(const SlidingWindowLimit& limit, Instant now) const noexcept {
    if (!is_another(limit, now)) {
        return *this;
    }
    const std::int64_t index = now.time_since_epoch().count() / limit.numbers.window;
    SlidingWindow moved;
    if (index_ > index) {
        // Further ahead than the next, as before UTC was set back and the process began anew, it
        // counts until the next has ended.
        moved = *this;
        moved.index_ = std::min(index_, index + 1);
        return moved;
    }
    moved.previous_ = index == index_ + 1 ? current_ : 0;
    moved.index_ = index;
    return moved;
}

void SlidingWindow::move_to(const SlidingWindowLimit& limit, Instant now) noexcept {
    set_counts(counts(limit, now));
}

WindowCounts SlidingWindow::counts(const SlidingWindowLimit& limit, Instant now) const noexcept {
    const SlidingWindow moved = moved_to(limit, now);
    return {moved.index_, moved.current_, moved.previous_};
}

// The counters leave their places last: in between, units count twice.
void SlidingWindow::set_counts(const WindowCounts& counts) noexcept {
    index_ = counts.epoch;
    keep_store_order();
    previous_ = counts.previous;
    keep_store_order();
    current_ = counts.current;
}

Units SlidingWindow::used(const SlidingWindowLimit& limit, Instant now) const noexcept {
    const SlidingWindow moved = moved_to(limit, now);
    const auto length = static_cast<Wide>(limit.numbers.window);
    const Wide earlier = static_cast<Wide>(moved.previous_) * moved.left(limit, now);
    const Wide used = moved.current_ + (earlier + length - 1) / length;
    return Units{static_cast<std::uint64_t>(std::min<Wide>(used, UINT64_MAX))};
}

Units SlidingWindow::remaining(const SlidingWindowLimit& limit, Instant now) const noexcept {
    return Units{limit.numbers.count - std::min(used(limit, now).count(), limit.numbers.count)};
}

std::optional<Nanoseconds> SlidingWindow::wait(const SlidingWindowLimit& limit, Instant now,
                                               Units cost) const noexcept {
    if (cost.count() > limit.numbers.count) {
        return std::nullopt;
    }
    if (admits(limit, now, cost)) {
        return Nanoseconds{0};
    }
    const SlidingWindow moved = moved_to(limit, now);
    const auto length = static_cast<std::uint64_t>(limit.numbers.window);
    const std::uint64_t room = limit.numbers.count - cost.count();
    // While the current window lasts, then in the next one, of which the current is the earlier.
    std::uint64_t from_start = length;
    if (moved.current_ <= room) {
        from_start = first_fit(moved.previous_, room - moved.current_, length);
    }
    if (from_start == length) {
        from_start += first_fit(moved.current_, room, length);
    }
    const auto into = static_cast<std::int64_t>(moved.time_into(limit, now));
    return Nanoseconds{static_cast<std::int64_t>(from_start) - into};
}

void SlidingWindow::give_back(const SlidingWindowLimit& limit, Instant now, Units units) noexcept {
    move_to(limit, now);
    const std::uint64_t from_current = std::min(current_, units.count());
    current_ -= from_current;
    // A unit of the window before weighs no more than its share that is left.
    const Wide rest = static_cast<Wide>(units.count() - from_current) *
                      static_cast<Wide>(limit.numbers.window) / left(limit, now);
    previous_ -= static_cast<std::uint64_t>(std::min<Wide>(previous_, rest));
}

// The current window's count stays before that of the one before: it counts for longer.
bool SlidingWindow::forgive_excess(const SlidingWindowLimit& limit, Instant now) noexcept {
    if (used(limit, now).count() <= limit.numbers.count) {
        return false;
    }
    move_to(limit, now);
    current_ = std::min(current_, limit.numbers.count);
    const Wide room = static_cast<Wide>(limit.numbers.count - current_) *
                      static_cast<Wide>(limit.numbers.window) / left(limit, now);
    previous_ = static_cast<std::uint64_t>(std::min<Wide>(previous_, room));
    return true;
}

}  // namespace sluice
