#include "lib/meter/gcra.hpp"

namespace sluice {
namespace {

// What was taken and has not come back yet, in 1/parts ns. Below 2^63: a debt never exceeds
// burst * T.
std::uint64_t debt_of(const Gcra& bucket, const Limit& limit, Instant now) noexcept {
    if (bucket.fresh_from <= now) {
        return 0;
    }
    const auto whole = static_cast<std::uint64_t>((bucket.fresh_from - now).count());
    return whole * limit.parts() - bucket.below;
}

// The debt at which `cost` still fits, in 1/parts ns. The caller has checked cost <= burst.
std::uint64_t tolerance(const Limit& limit, Units cost) noexcept {
    return (limit.burst() - cost.count()) * limit.period();
}

}  // namespace

bool admits(const Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    return cost.count() <= limit.burst() && debt_of(bucket, limit, now) <= tolerance(limit, cost);
}

void charge(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept {
    // cost <= burst, so the product is below 2^63; what is taken off it is below 2^24.
    const std::uint64_t period = cost.count() * limit.period();
    const bool idle = bucket.fresh_from <= now;
    const Instant from = idle ? now : bucket.fresh_from;
    const std::uint64_t below = idle ? 0 : bucket.below;
    if (period <= below) {
        bucket.below = static_cast<std::uint32_t>(below - period);
        return;
    }
    const std::uint64_t added = period - below;  // TAT' = from + added / parts
    const std::uint64_t whole = (added + limit.parts() - 1) / limit.parts();
    bucket = {from + Nanoseconds{static_cast<std::int64_t>(whole)},
              static_cast<std::uint32_t>(whole * limit.parts() - added)};
}

Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept {
    const std::uint64_t debt = debt_of(bucket, limit, now);
    return Units{debt >= limit.full() ? 0 : (limit.full() - debt) / limit.period()};
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

}  // namespace sluice
