#pragma once
#include "lib/meter/gcra.hpp"
#include "lib/meter/limit.hpp"
#include "lib/table/entry.hpp"

#include <algorithm>
#include <cstdint>

// Look and charge in one step, for whoever has one token bucket to ask: what admits() and charge()
// (gcra.hpp) do, on the entry itself, which need not be held.
namespace sluice {

// For limits whose time per unit is a whole number of ns. An entry's time word, as a number, is the
// instant times 64 and what else stands there below, so the arithmetic is done on the word.
struct WholeTake {
    static constexpr std::int64_t kBelow = (std::int64_t{1} << kInstantShift) - 1;
    std::int64_t word;
    std::int64_t fresh_from;
    std::int64_t at;

    WholeTake(const Entry& entry, Instant now) noexcept
        : word{static_cast<std::int64_t>(entry.time)},
          fresh_from{word & ~kBelow},
          at{now.time_since_epoch().count() << kInstantShift} {}

    [[nodiscard]] bool fits(const Limit& limit, Units cost) const noexcept {
        const auto tolerated = static_cast<std::int64_t>(tolerance(limit, cost) << kInstantShift);
        return cost.count() <= limit.burst() && fresh_from <= at + tolerated;
    }
    [[nodiscard]] std::uint64_t after(const Limit& limit, Units cost) const noexcept {
        const auto added =
            static_cast<std::int64_t>((cost.count() * limit.period()) << kInstantShift);
        return static_cast<std::uint64_t>(std::max(fresh_from, at) + added + (word & kBelow));
    }
};

// By a branch: whoever computes where to write makes what is read next wait for what was read here.
[[nodiscard, gnu::always_inline]] inline bool take_whole(Entry& entry, const Limit& limit,
                                                         Instant now, Units cost) noexcept {
    const WholeTake take{entry, now};
    if (!take.fits(limit, cost)) {
        return false;
    }
    store_word(entry.time, take.after(limit, cost));
    return true;
}

// take_whole() of one unit each, for whoever does so many times: what does not depend on the entry
// is worked out beforehand.
class TakeOne {
public:
    TakeOne(const Limit& limit, Instant now) noexcept
        : at_{now.time_since_epoch().count() << kInstantShift},
          latest_{at_ + static_cast<std::int64_t>(tolerance(limit, Units{1}) << kInstantShift)},
          added_{static_cast<std::int64_t>(limit.period() << kInstantShift)} {}

    [[nodiscard, gnu::always_inline]] bool operator()(Entry& entry) const noexcept {
        const auto word = static_cast<std::int64_t>(entry.time);
        const std::int64_t fresh_from = word & ~WholeTake::kBelow;
        if (fresh_from > latest_) {
            return false;
        }
        const std::int64_t after = std::max(fresh_from, at_) + added_;
        store_word(entry.time, static_cast<std::uint64_t>(after + (word & WholeTake::kBelow)));
        return true;
    }

private:
    std::int64_t at_;
    std::int64_t latest_;
    std::int64_t added_;
};

// And where the time per unit is no whole number of ns: the latest that a bucket may stand at is
// `latest_` less `least_below_` parts of a ns.
class TakeOneInParts {
public:
    TakeOneInParts(const Limit& limit, Instant now) noexcept
        : at_{now.time_since_epoch().count() << kInstantShift},
          parts_{limit.parts()},
          added_{limit.time_of(Units{1})} {
        const std::uint64_t tolerated = tolerance(limit, Units{1});
        const auto rest = static_cast<std::uint32_t>(tolerated % parts_);
        latest_ = at_ + (static_cast<std::int64_t>(tolerated / parts_ + 1) << kInstantShift);
        least_below_ = parts_ - rest;
    }

    [[nodiscard, gnu::always_inline]] bool operator()(Entry& entry) const noexcept {
        const auto word = static_cast<std::int64_t>(entry.time);
        const std::int64_t fresh_from = word & ~WholeTake::kBelow;
        const auto below = static_cast<std::uint32_t>(entry.key >> kRestShift);
        if (fresh_from > latest_ || (fresh_from == latest_ && below < least_below_)) {
            return false;
        }
        const std::uint32_t counts = fresh_from > at_ ? below : 0;
        const bool next = added_.rest > counts;
        const auto whole = static_cast<std::int64_t>(added_.whole + (next ? 1U : 0U));
        const std::int64_t after = std::max(fresh_from, at_) + (whole << kInstantShift);
        const std::uint64_t rest = counts - added_.rest + (next ? parts_ : 0U);
        store_word(entry.time, static_cast<std::uint64_t>(after + (word & WholeTake::kBelow)));
        store_word(entry.key, rest << kRestShift | (entry.key & kSlotAndTagMask));
        return true;
    }

private:
    std::int64_t at_;
    std::int64_t latest_;
    std::uint32_t least_below_;
    std::uint32_t parts_;
    Lapse added_;
};

// The same for all other limits.
[[nodiscard, gnu::noinline]] inline bool take_parts(Entry& entry, const Limit& limit, Instant now,
                                                    Units cost) noexcept {
    const Cell cell = entry.cell();
    Gcra bucket{cell.fresh_from, cell.rest};
    if (!admits(bucket, limit, now, cost)) {
        return false;
    }
    charge(bucket, limit, now, cost);
    entry.write({bucket.fresh_from, bucket.below});
    return true;
}

// False: refused, and nothing has changed.
[[nodiscard, gnu::always_inline]] inline bool take(Entry& entry, const Limit& limit, Instant now,
                                                   Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        return take_whole(entry, limit, now, cost);
    }
    return take_parts(entry, limit, now, cost);
}

// Whether take() would admit; changes nothing.
[[nodiscard]] inline bool fits(const Entry& entry, const Limit& limit, Instant now,
                               Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        return WholeTake{entry, now}.fits(limit, cost);
    }
    const Cell cell = entry.cell();
    return admits(Gcra{cell.fresh_from, cell.rest}, limit, now, cost);
}

// Takes what fits() has just said would fit.
inline void take_fitting(Entry& entry, const Limit& limit, Instant now, Units cost) noexcept {
    if (limit.parts() == 1) [[likely]] {
        store_word(entry.time, WholeTake{entry, now}.after(limit, cost));
        return;
    }
    const Cell cell = entry.cell();
    Gcra bucket{cell.fresh_from, cell.rest};
    charge(bucket, limit, now, cost);
    entry.write({bucket.fresh_from, bucket.below});
}

}  // namespace sluice
