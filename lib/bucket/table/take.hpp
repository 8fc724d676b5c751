#pragma once
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/table/entry.hpp"

#include <algorithm>
#include <cstdint>

// GCRA on a table's entry, which need not be held: what admits() and charge() (gcra.hpp) do on a
// bucket that was read from it.
namespace sluice {

// Numbers of a limit whose time per unit is a whole number of ns, in the unit of an entry's time
// word: the instant times 2^kInstantShift, and what else stands there below it. So the arithmetic
// is done on the word, whose upper part is the bucket.
class WholeNumbers {
public:
    using Bucket = std::int64_t;
    using Time = std::int64_t;

    constexpr WholeNumbers() noexcept = default;
    // Needs limit.parts() == 1.
    explicit WholeNumbers(const Limit& limit) noexcept
        : full_{static_cast<std::int64_t>(limit.full() << kInstantShift)},
          period_{static_cast<std::int64_t>(limit.period() << kInstantShift)},
          burst_{limit.burst()} {}

    [[nodiscard]] static Time word_of(Instant now) noexcept {
        return now.time_since_epoch().count() << kInstantShift;
    }
    [[nodiscard, gnu::always_inline]] bool fits(const Entry& entry, Time now,
                                                Units cost) const noexcept {
        return conforms(*this, static_cast<std::int64_t>(entry.time) & ~kBelow, now, cost);
    }
    // A cost that fits() has just admitted.
    [[gnu::always_inline]] void charge(Entry& entry, Time now, Units cost) const noexcept {
        const auto word = static_cast<std::int64_t>(entry.time);
        const Bucket tat = next_tat(*this, word & ~kBelow, now, cost);
        store_word(entry.time, static_cast<std::uint64_t>(tat + (word & kBelow)));
    }

    // The terms that conforms() and next_tat() take.
    [[nodiscard]] std::uint64_t burst() const noexcept { return burst_; }
    // Below zero of a bucket that is idle.
    [[nodiscard]] static std::int64_t debt(Bucket tat, Time now) noexcept { return tat - now; }
    [[nodiscard]] std::int64_t tolerance(Units cost) const noexcept {
        return full_ - time_of(cost);
    }
    [[nodiscard]] static Bucket latest(Bucket tat, Time now) noexcept { return std::max(tat, now); }
    [[nodiscard]] Bucket later(Bucket from, Units cost) const noexcept {
        return from + time_of(cost);
    }

private:
    static constexpr std::int64_t kBelow = (std::int64_t{1} << kInstantShift) - 1;

    [[nodiscard]] std::int64_t time_of(Units cost) const noexcept {
        return static_cast<std::int64_t>(cost.count() * static_cast<std::uint64_t>(period_));
    }

    std::int64_t full_ = 0;    // burst * T
    std::int64_t period_ = 0;  // T
    std::uint64_t burst_ = 0;
};

// True if the bucket has room; changes nothing.
[[nodiscard]] inline bool fits(const Entry& entry, const Limit& limit, Instant now,
                               Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        return WholeNumbers{limit}.fits(entry, WholeNumbers::word_of(now), cost);
    }
    const Cell cell = entry.cell();
    return admits(Gcra{cell.fresh_from, cell.rest}, limit, now, cost);
}

// Takes what fits() has just admitted.
inline void take_fitting(Entry& entry, const Limit& limit, Instant now, Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        WholeNumbers{limit}.charge(entry, WholeNumbers::word_of(now), cost);
        return;
    }
    const Cell cell = entry.cell();
    Gcra bucket{cell.fresh_from, cell.rest};
    charge(bucket, limit, now, cost);
    entry.write({bucket.fresh_from, bucket.below});
}

// Both in one step. False: refused, and nothing has changed.
[[nodiscard, gnu::always_inline]] inline bool take(Entry& entry, const Limit& limit, Instant now,
                                                   Units cost) noexcept {
    if (!fits(entry, limit, now, cost)) {
        return false;
    }
    take_fitting(entry, limit, now, cost);
    return true;
}

}  // namespace sluice
