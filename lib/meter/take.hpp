#pragma once
#include "lib/meter/entry.hpp"
#include "lib/meter/gcra.hpp"
#include "lib/meter/limit.hpp"

#include <algorithm>
#include <cstdint>

// Look and charge in one step, for whoever has one token bucket to ask: what admits() and charge()
// (gcra.hpp) do, on the entry itself, which need not be held.
namespace sluice {

// For limits whose time per unit is a whole number of ns. An entry's time word, as a number, is the
// instant times 64 and what else stands there below, so the arithmetic is done on the word.
[[nodiscard]] inline bool take_whole(Entry& entry, const Limit& limit, Instant now,
                                     Units cost) noexcept {
    constexpr std::int64_t kBelow = (std::int64_t{1} << kInstantShift) - 1;
    const std::int64_t word = static_cast<std::int64_t>(entry.time);
    const std::int64_t fresh_from = word & ~kBelow;
    const std::int64_t at = now.time_since_epoch().count() << kInstantShift;
    const auto tolerated = static_cast<std::int64_t>(tolerance(limit, cost) << kInstantShift);
    if (cost.count() > limit.burst() || fresh_from > at + tolerated) {
        return false;
    }
    const auto added = static_cast<std::int64_t>((cost.count() * limit.period()) << kInstantShift);
    store_word(entry.time,
               static_cast<std::uint64_t>(std::max(fresh_from, at) + added + (word & kBelow)));
    return true;
}

// False: refused, and nothing has changed.
[[nodiscard]] inline bool take(Entry& entry, const Limit& limit, Instant now, Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        return take_whole(entry, limit, now, cost);
    }
    const Cell cell = entry.cell();
    Gcra bucket{cell.fresh_from, cell.rest};
    if (!admits(bucket, limit, now, cost)) {
        return false;
    }
    charge(bucket, limit, now, cost);
    entry.write({bucket.fresh_from, bucket.below});
    return true;
}

// Whether take() would admit; changes nothing.
[[nodiscard]] inline bool fits(const Entry& entry, const Limit& limit, Instant now,
                               Units cost) noexcept {
    const Cell cell = entry.cell();
    return admits(Gcra{cell.fresh_from, cell.rest}, limit, now, cost);
}

}  // namespace sluice
