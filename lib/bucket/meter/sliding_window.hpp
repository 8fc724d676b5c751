#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/window_counts.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

// Two counters, the earlier weighted by how much of its window still lies in the last W:
//
//   |--- previous ---|--- current ---|        admitted iff
//           |---- the last W ---|             prev * (W - e) + (cur + cost) * W <= count * W
//                    `-- e ---> now
//
// Windows begin at the multiples of W. In any window W less than 2 * count is admitted.
class SlidingWindow {
public:
    [[nodiscard]] bool admits(const SlidingWindowLimit& limit, Instant now,
                              Units cost) const noexcept;
    // A cost that admits() has just admitted.
    void charge(const SlidingWindowLimit& limit, Instant now, Units cost) noexcept;

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
    [[nodiscard]] Instant fresh_from(const SlidingWindowLimit& limit, Instant now) const noexcept;

private:
    // The same counters as the current window has them.
    [[nodiscard]] SlidingWindow moved_to(const SlidingWindowLimit& limit,
                                         Instant now) const noexcept;
    void move_to(const SlidingWindowLimit& limit, Instant now) noexcept;
    // W - e: how much of the window before the current one still counts, in ns.
    [[nodiscard]] std::uint64_t left(const SlidingWindowLimit& limit, Instant now) const noexcept;

    std::int64_t index_ = 0;  // of the current window
    std::uint64_t previous_ = 0;
    std::uint64_t current_ = 0;
};

}  // namespace sluice
