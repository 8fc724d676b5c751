#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/meter/relief.hpp"

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
//
// The sum stands once, in conforms() and next_tat(). They take a type of numbers that says how
// instants and the time of a unit are represented:
//
//   InParts<Limit>       whole ns and a remainder in 1/parts ns: any limit
//   InParts<LineNumbers> the same, of a key with numbers of its own (table/own_bucket.hpp)
//   WholeNumbers         an entry's time word, where a unit takes whole ns (table/take.hpp)
namespace sluice {

// `bucket` and `now` are in the numbers' own form. A cost above the burst never conforms, and its
// time is not computed: it may be any number.
template <typename Numbers>
[[nodiscard, gnu::always_inline]] inline bool conforms(const Numbers& numbers,
                                                       const typename Numbers::Bucket& bucket,
                                                       typename Numbers::Time now,
                                                       Units cost) noexcept {
    return cost.count() <= numbers.burst() && numbers.debt(bucket, now) <= numbers.tolerance(cost);
}

// max(TAT, now) + cost * T: the bucket once it has taken a cost that conforms.
template <typename Numbers>
[[nodiscard, gnu::always_inline]] inline typename Numbers::Bucket next_tat(
    const Numbers& numbers, const typename Numbers::Bucket& bucket, typename Numbers::Time now,
    Units cost) noexcept {
    return numbers.later(numbers.latest(bucket, now), cost);
}

// Theoretical arrival time, as the first whole ns not before it, so that a look at one word tells
// when the bucket may be forgotten.
struct Gcra {
    Instant fresh_from{};     // TAT rounded up to whole ns
    std::uint32_t below = 0;  // TAT = fresh_from - below/parts ns; below < parts

    [[nodiscard]] bool operator==(const Gcra&) const noexcept = default;
};

// The debt that has not come back yet, in 1/parts ns. Below 2^63, so 64 bits are enough, but for a
// ledger's copies (lib/peer/merge).
template <typename Debt = std::uint64_t>
[[nodiscard]] inline Debt debt_in_parts(const Gcra& bucket, std::uint32_t parts,
                                        Instant now) noexcept {
    if (bucket.fresh_from <= now) {
        return 0;
    }
    const auto whole = static_cast<std::uint64_t>((bucket.fresh_from - now).count());
    return static_cast<Debt>(whole) * parts - bucket.below;
}
[[nodiscard]] inline std::uint64_t debt_of(const Gcra& bucket, const Limit& limit,
                                           Instant now) noexcept {
    return debt_in_parts(bucket, limit.parts(), now);
}

// The bucket that owes `debt` 1/parts ns at `now`. Most limits have whole ns, and need no division.
[[nodiscard]] inline Gcra owing_parts(std::uint64_t debt, std::uint32_t parts,
                                      Instant now) noexcept {
    if (parts == 1) [[likely]] {
        return {now + Nanoseconds{static_cast<std::int64_t>(debt)}, 0};
    }
    const std::uint64_t rounded_up = (debt + parts - 1) / parts;
    return {now + Nanoseconds{static_cast<std::int64_t>(rounded_up)},
            static_cast<std::uint32_t>(rounded_up * parts - debt)};
}

// Any numbers, exactly: of a Limit, or of what has its burst(), period(), parts() and time_of().
template <typename AnyNumbers>
struct InParts {
    using Bucket = Gcra;
    using Time = Instant;

    const AnyNumbers& limit;

    [[nodiscard]] std::uint64_t burst() const noexcept { return limit.burst(); }
    [[nodiscard]] std::uint64_t debt(const Gcra& bucket, Instant now) const noexcept {
        return debt_in_parts(bucket, limit.parts(), now);
    }
    // The debt at which `cost`, at most the burst, still fits.
    [[nodiscard]] std::uint64_t tolerance(Units cost) const noexcept {
        return (limit.burst() - cost.count()) * limit.period();
    }
    [[nodiscard]] static Gcra latest(const Gcra& bucket, Instant now) noexcept {
        const bool idle = bucket.fresh_from <= now;
        return {idle ? now : bucket.fresh_from, idle ? 0 : bucket.below};
    }
    // The carry of parts into a ns is as random as the keys: nothing branches on it.
    [[nodiscard]] Gcra later(const Gcra& from, Units cost) const noexcept {
        const Lapse added = limit.time_of(cost);
        const std::uint32_t next = added.rest > from.below ? 1 : 0;
        return {from.fresh_from + Nanoseconds{static_cast<std::int64_t>(added.whole + next)},
                from.below - added.rest + next * limit.parts()};
    }
};

// The debt at which `cost`, at most the burst, still fits, in 1/parts ns.
[[nodiscard]] inline std::uint64_t tolerance(const Limit& limit, Units cost) noexcept {
    return InParts<Limit>{limit}.tolerance(cost);
}

// A full bucket admits exactly `burst` units at one instant. A cost above the burst never fits.
[[nodiscard]] inline bool admits(const Gcra& bucket, const Limit& limit, Instant now,
                                 Units cost) noexcept {
    return conforms(InParts<Limit>{limit}, bucket, now, cost);
}

// Takes `cost`, which admits() has just admitted at the same instant.
inline void charge(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    bucket = next_tat(InParts<Limit>{limit}, bucket, now, cost);
}

// Takes `cost`, or what there is if that is less.
void charge_what_fits(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept;

// Whole units that are owed, rounded up; more than the burst where that was lowered.
[[nodiscard]] Units used(const Gcra& bucket, const Limit& limit, Instant now) noexcept;

// Takes whole units, as many as it needs so that at least `units` are used.
void use_at_least(Gcra& bucket, const Limit& limit, Instant now, Units units) noexcept;

// Gives back what was taken last, at most `relief.units`: a bucket gets no fuller than full. With
// `relief.excess` it owes no more than a whole burst afterwards. False: it owed no more.
bool relieve(Gcra& bucket, const Limit& limit, Instant now, Relief relief) noexcept;

// Whole units that a debt leaves room for.
[[nodiscard]] inline Units units_left(std::uint64_t debt, const Limit& limit) noexcept {
    return Units{debt >= limit.full() ? 0 : (limit.full() - debt) / limit.period()};
}

// Whole units that would be admitted now.
[[nodiscard]] Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept;

// The least time after which `cost` would be admitted if nothing else came, exact to the ns;
// nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait(const Gcra& bucket, const Limit& limit, Instant now,
                                              Units cost) noexcept;

// When a packet that a leaky bucket admits now, and which has not been charged yet, leaves the
// queue: max(TAT, now), in whole ns rounded up.
[[nodiscard]] inline Instant departure(const Gcra& bucket, Instant now) noexcept {
    return InParts<Limit>::latest(bucket, now).fresh_from;
}

// A debt of `debt` 1/parts ns under `from` in the 1/parts ns of `to`: the same units, rounded
// against the debtor; at most what the longest debt of `to` holds.
[[nodiscard]] std::uint64_t renumbered_debt(std::uint64_t debt, const Limit& from,
                                            const Limit& to) noexcept;

// The bucket that owes `debt` 1/parts ns at `now`.
[[nodiscard]] inline Gcra owing(std::uint64_t debt, const Limit& limit, Instant now) noexcept {
    return owing_parts(debt, limit.parts(), now);
}

// Units used at `changed` are read under `from` and written under `to`. They may be more than the
// new burst, so that numbers that are lowered and restored leave the bucket as it was.
void renumber(Gcra& bucket, const Limit& from, const Limit& to, Instant changed) noexcept;

}  // namespace sluice
