#pragma once
#include "lib/meter/gcra.hpp"
#include "lib/meter/limit.hpp"
#include "lib/table/entry.hpp"

#include <algorithm>
#include <cstdint>

// GCRA on a table's entry, which need not be held: what admits() and charge() (gcra.hpp) do on a
// bucket that was read from it.
namespace sluice {

// The numbers of a limit whose time per unit is a whole number of ns, in the unit of an entry's
// time word: the instant times 2^kInstantShift, and what else stands there below it. So the
// arithmetic is done on the word.
struct WholeNumbers {
    static constexpr std::int64_t kBelow = (std::int64_t{1} << kInstantShift) - 1;

    std::int64_t full = 0;    // burst * T
    std::int64_t period = 0;  // T
    std::uint64_t burst = 0;

    constexpr WholeNumbers() noexcept = default;
    // Needs limit.parts() == 1.
    explicit WholeNumbers(const Limit& limit) noexcept
        : full{static_cast<std::int64_t>(limit.full() << kInstantShift)},
          period{static_cast<std::int64_t>(limit.period() << kInstantShift)},
          burst{limit.burst()} {}

    [[nodiscard]] static std::int64_t word_of(Instant now) noexcept {
        return now.time_since_epoch().count() << kInstantShift;
    }
    [[nodiscard, gnu::always_inline]] bool fits(const Entry& entry, std::int64_t now,
                                                Units cost) const noexcept {
        const std::int64_t tat = static_cast<std::int64_t>(entry.time) & ~kBelow;
        // Of a cost above the burst the product may be any number.
        return cost.count() <= burst && tat <= now + (full - time_of(cost));
    }
    // A cost that fits() has just admitted.
    [[gnu::always_inline]] void charge(Entry& entry, std::int64_t now, Units cost) const noexcept {
        const auto word = static_cast<std::int64_t>(entry.time);
        const std::int64_t tat = std::max(word & ~kBelow, now);
        store_word(entry.time, static_cast<std::uint64_t>(tat + time_of(cost) + (word & kBelow)));
    }

private:
    [[nodiscard]] std::int64_t time_of(Units cost) const noexcept {
        return static_cast<std::int64_t>(cost.count() * static_cast<std::uint64_t>(period));
    }
};

// Whether the bucket has room; changes nothing.
[[nodiscard]] inline bool fits(const Entry& entry, const Limit& limit, Instant now,
                               Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        return WholeNumbers{limit}.fits(entry, WholeNumbers::word_of(now), cost);
    }
    const Cell cell = entry.cell();
    return admits(Gcra{cell.fresh_from, cell.rest}, limit, now, cost);
}

// Takes what fits() has just said would fit.
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
