#pragma once
#include "lib/base/units.hpp"
#include "lib/meter/limit.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

// Generic cell rate algorithm (ITU-T I.371, virtual scheduling), the token bucket seen from the
// other end: instead of tokens it keeps the instant at which the bucket will be full again.
//
//          now            TAT                  TAT - now is the debt: what was taken and has
//   --------|==============|---------> time    not come back yet. A cost c fits if debt + c*T
//            `--- debt ---'                    stays within burst*T.
//
// With T = period / parts ns, the debt is an integer in 1/parts ns: nothing is rounded, nothing
// drifts. Look and charge are separate, so several limits are judged before any is spent.
// Pure arithmetic: no clock, no atomics, no allocation.
namespace sluice {

// Theoretical arrival time, as the first whole ns not before it, so that a look at one word tells
// when the bucket may be forgotten.
struct Gcra {
    Instant fresh_from{};     // TAT rounded up to whole ns
    std::uint32_t below = 0;  // TAT = fresh_from - below/parts ns; below < parts

    [[nodiscard]] bool operator==(const Gcra&) const noexcept = default;
};

// What was taken and has not come back yet, in 1/parts ns. Below 2^63: a debt never exceeds
// burst * T.
[[nodiscard]] inline std::uint64_t debt_in_parts(const Gcra& bucket, std::uint32_t parts,
                                                 Instant now) noexcept {
    if (bucket.fresh_from <= now) {
        return 0;
    }
    const auto whole = static_cast<std::uint64_t>((bucket.fresh_from - now).count());
    return whole * parts - bucket.below;
}
[[nodiscard]] inline std::uint64_t debt_of(const Gcra& bucket, const Limit& limit,
                                           Instant now) noexcept {
    return debt_in_parts(bucket, limit.parts(), now);
}

// The debt at which `cost`, at most the burst, still fits, in 1/parts ns.
[[nodiscard]] inline std::uint64_t tolerance(const Limit& limit, Units cost) noexcept {
    return limit.full() - cost.count() * limit.period();
}

// A full bucket admits exactly `burst` units at one instant. A cost above the burst never fits.
[[nodiscard]] inline bool admits(const Gcra& bucket, const Limit& limit, Instant now,
                                 Units cost) noexcept {
    return cost.count() <= limit.burst() && debt_of(bucket, limit, now) <= tolerance(limit, cost);
}

// The bucket once `added` more is owed: TAT' = from + added.whole + (added.rest - below) / parts.
// Whether parts carry over into a ns is as random as the keys: nothing branches on it.
[[nodiscard]] inline Gcra later_by(Lapse added, const Gcra& bucket, std::uint32_t parts,
                                   Instant now) noexcept {
    const bool idle = bucket.fresh_from <= now;
    const Instant from = idle ? now : bucket.fresh_from;
    const std::uint32_t below = idle ? 0 : bucket.below;
    const std::uint32_t next = added.rest > below ? 1 : 0;
    return {from + Nanoseconds{static_cast<std::int64_t>(added.whole + next)},
            below - added.rest + next * parts};
}

// Takes `cost`, which admits() has just admitted at the same instant.
inline void charge(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    bucket = later_by(limit.time_of(cost), bucket, limit.parts(), now);
}

// Takes `cost`, or what there is if that is less.
void charge_what_fits(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept;

// Takes whole units, as many as it needs so that no more than `most` whole units remain.
void leave_at_most(Gcra& bucket, const Limit& limit, Instant now, Units most) noexcept;

// Gives back what was taken last, at most `units`: a bucket gets no fuller than full.
void give_back(Gcra& bucket, const Limit& limit, Instant now, Units units) noexcept;

// Whole units that would be admitted now.
[[nodiscard]] Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept;

// The least time after which `cost` would be admitted if nothing else came, exact to the ns;
// nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait(const Gcra& bucket, const Limit& limit, Instant now,
                                              Units cost) noexcept;

// When a packet that a leaky bucket admits now, and which has not been charged yet, leaves the
// queue: max(TAT, now), in whole ns rounded up.
[[nodiscard]] inline Instant departure(const Gcra& bucket, Instant now) noexcept {
    return std::max(bucket.fresh_from, now);
}

// A debt of `debt` 1/parts ns under `from` in the 1/parts ns of `to`: the same units, at most a
// whole burst, rounded against the debtor.
[[nodiscard]] std::uint64_t renumbered_debt(std::uint64_t debt, const Limit& from,
                                            const Limit& to) noexcept;

// The bucket that owes `debt` 1/parts ns at `now`.
[[nodiscard]] Gcra owing(std::uint64_t debt, const Limit& limit, Instant now) noexcept;

// What was used at `changed` is read under `from` and written under `to`: remaining += new - old,
// clamped to [0, new].
void renumber(Gcra& bucket, const Limit& from, const Limit& to, Instant changed) noexcept;

}  // namespace sluice
