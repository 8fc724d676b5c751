#pragma once
#include "lib/base/units.hpp"
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/window_counts.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sluice {

// Two counters, the earlier weighted by how much of its window still lies in the last W:
//
//   |--- previous ---|--- current ---|        admitted iff
//           |---- the last W ---|             prev * (W - e) + (cur + cost) * W <= count * W
//                    `-- e ---> now
//
// Windows begin at the multiples of W, of instants or of UTC (time_for()). In any window W less
// than 2 * count is admitted, and of UTC a count more for each time that it is set ahead in it.
class SlidingWindow {
public:
    [[nodiscard]] bool admits(const SlidingWindowLimit& limit, Instant now,
                              Units cost) const noexcept {
        return cost.count() <= limit.numbers.count &&
               (is_another(limit, now) ? moved_to(limit, now).has_room(limit, now, cost)
                                       : has_room(limit, now, cost));
    }
    // A cost that admits() has just admitted.
    void charge(const SlidingWindowLimit& limit, Instant now, Units cost) noexcept {
        if (is_another(limit, now)) [[unlikely]] {
            move_to(limit, now);
        }
        current_ += cost.count();
    }

    [[nodiscard]] Units remaining(const SlidingWindowLimit& limit, Instant now) const noexcept;
    [[nodiscard]] std::optional<Nanoseconds> wait(const SlidingWindowLimit& limit, Instant now,
                                                  Units cost) const noexcept;
    // Gives back what was used, at most `units`; the current window first.
    void give_back(const SlidingWindowLimit& limit, Instant now, Units units) noexcept;
    // Lets no more be used than the count. False: no more is.
    [[nodiscard]] bool forgive_excess(const SlidingWindowLimit& limit, Instant now) noexcept;
    // The counts of the current window and the one before.
    [[nodiscard]] WindowCounts counts(const SlidingWindowLimit& limit, Instant now) const noexcept;
    // No earlier and no smaller than what there is.
    void set_counts(const WindowCounts& counts) noexcept;
    // The units that count now, rounded up; may be more than the count, where that was lowered or
    // several workers count.
    [[nodiscard]] Units used(const SlidingWindowLimit& limit, Instant now) const noexcept;
    // The end of the window after the current one.
    [[nodiscard]] Instant fresh_from(const SlidingWindowLimit& limit, Instant now) const noexcept {
        return is_another(limit, now) ? moved_to(limit, now).none_counts_from(limit, now)
                                      : none_counts_from(limit, now);
    }

private:
    // The counters are of another window than the one that the time is in: theirs has ended, or is
    // ahead, since it was told of or counted by a clock that was.
    [[nodiscard]] bool is_another(const SlidingWindowLimit& limit, Instant now) const noexcept {
        return time_into(limit, now) >= static_cast<std::uint64_t>(limit.numbers.window);
    }
    // Since the current window began, in ns; modulo 2^64.
    [[nodiscard]] std::uint64_t time_into(const SlidingWindowLimit& limit,
                                          Instant now) const noexcept {
        return static_cast<std::uint64_t>(now.time_since_epoch().count()) -
               static_cast<std::uint64_t>(index_) *
                   static_cast<std::uint64_t>(limit.numbers.window);
    }
    // The same counters as that window has them, or the next, where they are of a later one.
    [[nodiscard]] SlidingWindow moved_to(const SlidingWindowLimit& limit,
                                         Instant now) const noexcept;
    void move_to(const SlidingWindowLimit& limit, Instant now) noexcept;
    // W - e: how much of the window before the current one still counts, in ns.
    [[nodiscard]] std::uint64_t left(const SlidingWindowLimit& limit, Instant now) const noexcept {
        const auto into = static_cast<std::int64_t>(time_into(limit, now));
        return static_cast<std::uint64_t>(limit.numbers.window - std::max<std::int64_t>(into, 0));
    }
    // admits() and fresh_from() of a window that is not over.
    [[nodiscard]] bool has_room(const SlidingWindowLimit& limit, Instant now,
                                Units cost) const noexcept {
        const auto length = static_cast<Wide>(limit.numbers.window);
        return static_cast<Wide>(previous_) * left(limit, now) +
                   (static_cast<Wide>(current_) + cost.count()) * length <=
               limit.numbers.count * length;
    }
    [[nodiscard]] Instant none_counts_from(const SlidingWindowLimit& limit,
                                           Instant now) const noexcept {
        if (current_ != 0) {
            return Instant{Nanoseconds{(index_ + 2) * limit.numbers.window}};
        }
        return previous_ == 0 ? now : Instant{Nanoseconds{(index_ + 1) * limit.numbers.window}};
    }

    std::int64_t index_ = 0;  // of the current window
    std::uint64_t previous_ = 0;
    std::uint64_t current_ = 0;
};

}  // namespace sluice
