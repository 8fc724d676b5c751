#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/window_counts.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace sluice {

// So many units in each window of a row of windows, one after the other:
//
//   |--- index i ---|--- index i+1 ---|       index = floor((t + offset) / W)
//
// t is UTC for phase clock (Now::window_time), else the instant. For phase first, the row is laid
// anew when a unit comes after its window has ended. In any window W at most 2 * count are
// admitted, and a count more for each time that UTC is set ahead in it.
//
// When UTC is set back, a bucket's window ends less than W later. So of phase clock it is kept for
// W longer than the window lasts, by instants, which nobody sets: whatever the clock does, a key
// that is forgotten has spent nothing for W.
class FixedWindow {
public:
    [[nodiscard]] static FixedWindow fresh(const FixedWindowLimit& limit, GroupKey key) noexcept;

    [[nodiscard]] bool admits(const FixedWindowLimit& limit, Now now, Units cost) const noexcept;
    // A cost that admits() has just admitted.
    void charge(const FixedWindowLimit& limit, Now now, Units cost) noexcept;

    [[nodiscard]] Units remaining(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] std::optional<Nanoseconds> wait(const FixedWindowLimit& limit, Now now,
                                                  Units cost) const noexcept;
    // Gives back what was used, at most `units`.
    void give_back(const FixedWindowLimit& limit, Now now, Units units) noexcept;
    // Lets no more be used than the count. False: no more is.
    [[nodiscard]] bool forgive_excess(const FixedWindowLimit& limit, Now now) noexcept;
    // May be more than the count, where that was lowered or several workers count.
    [[nodiscard]] Units used(const FixedWindowLimit& limit, Now now) const noexcept;
    // The counts of the current window; not for phase first, whose windows have no common numbers.
    [[nodiscard]] WindowCounts counts(const FixedWindowLimit& limit, Now now) const noexcept;
    // No earlier and no smaller than what counts() has.
    void set_counts(const WindowCounts& counts) noexcept;
    // The end of its window, and of phase clock as long again; of one that has nothing yet but is
    // ahead of the clock, its beginning. At most 2 W away.
    [[nodiscard]] Instant fresh_from(const FixedWindowLimit& limit, Now now) const noexcept;

private:
    [[nodiscard]] std::int64_t index_at(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] std::int64_t current(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] bool over(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] std::uint64_t used_at(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] Nanoseconds until_end(const FixedWindowLimit& limit, Now now) const noexcept;

    std::uint64_t used_ = 0;
    // The index of the window that `used_` belongs to.
    std::int64_t index_ = std::numeric_limits<std::int64_t>::min();
    std::int64_t offset_ = 0;  // ns
};

}  // namespace sluice
