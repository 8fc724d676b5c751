#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/window_counts.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

namespace sluice {

template <typename Numbers>
concept FixedNumbers =
    std::same_as<Numbers, FixedWindowLimit> || std::same_as<Numbers, DayWindowLimit>;

// How far the windows of a key begin ahead of t's multiples of W, for phase per_key; ns. Of windows
// by UTC in whole us, which is what stores of clusters are told in.
[[nodiscard]] std::int64_t offset_of_key(const FixedWindowLimit& limit, GroupKey key) noexcept;

// So many units in each window of a row of windows, one after the other:
//
//   |--- index i ---|--- index i+1 ---|       index = floor((t + offset) / W)
//
// t is UTC for phase clock and for windows that boxes number alike (Now::window_time), else the
// instant. For phase first, the row is laid anew when a unit comes after its window has ended. In
// any window W at most 2 * count are admitted, and a count more for each time that UTC is set ahead
// in it.
//
// Days of a zone are such a row as well (lib/base/local_days): index = floor(day / days), by UTC.
//
// When UTC is set back, a bucket's window ends less than W later. So where t is UTC it is kept for
// W longer than the window lasts, by instants, which nobody sets: whatever the clock does, a key
// that is forgotten has spent nothing for W.
class FixedWindow {
public:
    [[nodiscard]] static FixedWindow fresh(const FixedWindowLimit& limit, GroupKey key) noexcept;
    [[nodiscard]] static FixedWindow fresh(const DayWindowLimit& /*limit*/,
                                           GroupKey /*key*/) noexcept {
        return {};
    }

    [[nodiscard]] bool admits(const FixedNumbers auto& limit, Now now, Units cost) const noexcept {
        return cost <= remaining(limit, now);
    }
    // A cost that admits() has just admitted.
    template <FixedNumbers Numbers>
    void charge(const Numbers& limit, Now now, Units cost) noexcept;

    template <FixedNumbers Numbers>
    [[nodiscard]] Units remaining(const Numbers& limit, Now now) const noexcept;
    template <FixedNumbers Numbers>
    [[nodiscard]] std::optional<Nanoseconds> wait(const Numbers& limit, Now now,
                                                  Units cost) const noexcept;
    // Gives back what was used, at most `units`.
    template <FixedNumbers Numbers>
    void give_back(const Numbers& limit, Now now, Units units) noexcept;
    // Lets no more be used than the count. False: no more is.
    template <FixedNumbers Numbers>
    [[nodiscard]] bool forgive_excess(const Numbers& limit, Now now) noexcept;
    // May be more than the count, where that was lowered or several workers count.
    template <FixedNumbers Numbers>
    [[nodiscard]] Units used(const Numbers& limit, Now now) const noexcept;
    // The counts of the current window; not for phase first, whose windows have no common numbers.
    template <FixedNumbers Numbers>
    [[nodiscard]] WindowCounts counts(const Numbers& limit, Now now) const noexcept;
    // No earlier and no smaller than what counts() has.
    void set_counts(const WindowCounts& counts) noexcept;
    // The end of its window, and of phase clock as long again; of one that has nothing yet but is
    // ahead of the clock, its beginning. At most 2 W away.
    template <FixedNumbers Numbers>
    [[nodiscard]] Instant fresh_from(const Numbers& limit, Now now) const noexcept;

    // The days of another zone from `changed` on. What was used counts until a day there has ended
    // in which its own had not: no later than two of them from now.
    void renumber(const DayWindowLimit& from, const DayWindowLimit& to, Now changed) noexcept;

private:
    // The index of the window that the clock says.
    [[nodiscard]] std::int64_t index_at(const FixedWindowLimit& limit, Now now) const noexcept;
    [[nodiscard]] static std::int64_t index_at(const DayWindowLimit& limit, Now now) noexcept;
    // The time until that window begins; negative: since.
    [[nodiscard]] Nanoseconds until_begin(const FixedWindowLimit& limit, Now now,
                                          std::int64_t index) const noexcept;
    [[nodiscard]] static Nanoseconds until_begin(const DayWindowLimit& limit, Now now,
                                                 std::int64_t index) noexcept;

    // By the index that the clock says.
    [[nodiscard]] std::int64_t current(std::int64_t index) const noexcept;
    [[nodiscard]] bool is_over(std::int64_t index) const noexcept { return index > index_; }
    [[nodiscard]] std::uint64_t used_at(std::int64_t index) const noexcept {
        return is_over(index) ? 0 : used_;
    }

    std::uint64_t used_ = 0;
    // The index of the window that `used_` belongs to.
    std::int64_t index_ = std::numeric_limits<std::int64_t>::min();
    std::int64_t offset_ = 0;  // ns
};

}  // namespace sluice
