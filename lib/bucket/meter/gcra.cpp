#include "lib/bucket/meter/gcra.hpp"

#include "lib/base/wide.hpp"

#include <algorithm>

namespace sluice {

void charge_what_fits(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    if (admits(bucket, limit, now, cost)) {
        charge(bucket, limit, now, cost);
    } else if (debt_of(bucket, limit, now) < limit.full()) {
        bucket = owing(limit.full(), limit, now);
    }
}

Units used(const Gcra& bucket, const Limit& limit, Instant now) noexcept {
    const std::uint64_t debt = debt_of(bucket, limit, now);
    return Units{debt / limit.period() + (debt % limit.period() != 0 ? 1 : 0)};
}

void use_at_least(Gcra& bucket, const Limit& limit, Instant now, Units units) noexcept {
    const Units before = used(bucket, limit, now);
    if (before < units) {
        const Wide more = static_cast<Wide>(units.count() - before.count()) * limit.period();
        const Wide debt = debt_of(bucket, limit, now) + more;
        bucket = owing(static_cast<std::uint64_t>(std::min<Wide>(debt, limit.longest_debt())),
                       limit, now);
    }
}

bool relieve(Gcra& bucket, const Limit& limit, Instant now, Relief relief) noexcept {
    const std::uint64_t debt = debt_of(bucket, limit, now);
    const Wide given = static_cast<Wide>(relief.units.count()) * limit.period();
    const std::uint64_t left = given < debt ? debt - static_cast<std::uint64_t>(given) : 0;
    const bool exceeds = relief.excess && left > limit.full();
    if (debt != 0) {
        bucket = owing(exceeds ? limit.full() : left, limit, now);
    }
    return exceeds;
}

Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept {
    return units_left(debt_of(bucket, limit, now), limit);
}

std::optional<Nanoseconds> wait(const Gcra& bucket, const Limit& limit, Instant now,
                                Units cost) noexcept {
    if (cost.count() > limit.burst()) {
        return std::nullopt;
    }
    const std::uint64_t debt = debt_of(bucket, limit, now);
    const std::uint64_t room = tolerance(limit, cost);
    if (debt <= room) {
        return Nanoseconds{0};
    }
    const std::uint64_t excess = debt - room;
    return Nanoseconds{static_cast<std::int64_t>((excess + limit.parts() - 1) / limit.parts())};
}

std::uint64_t renumbered_debt(std::uint64_t debt, const Limit& from, const Limit& to) noexcept {
    // A debt of d 1/parts ns is d / period units.
    const Wide product = static_cast<Wide>(debt) * to.period();
    const Wide rounded_up = (product + from.period() - 1) / from.period();
    return static_cast<std::uint64_t>(std::min<Wide>(rounded_up, to.longest_debt()));
}

void renumber(Gcra& bucket, const Limit& from, const Limit& to, Instant changed) noexcept {
    const std::uint64_t debt = debt_of(bucket, from, changed);
    bucket = debt == 0 ? Gcra{changed, 0} : owing(renumbered_debt(debt, from, to), to, changed);
}

}  // namespace sluice
