#include "lib/meter/gcra.hpp"

#include "lib/base/wide.hpp"

namespace sluice {
namespace {

// A remainder written under other numbers (the limit was changed since) may not fit these: round
// the debt up to the next ns, so that a change never pays.
Gcra in_parts_of(const Limit& limit, const Gcra& bucket) noexcept {
    if (bucket.parts < limit.parts()) [[likely]] {
        return bucket;
    }
    return {bucket.tat + Nanoseconds{1}, 0};
}

// What was taken and has not come back yet, in 1/parts ns.
Wide debt_of(const Gcra& stored, const Limit& limit, Instant now) noexcept {
    const Gcra bucket = in_parts_of(limit, stored);
    if (bucket.tat < now) {
        return 0;
    }
    const auto whole = static_cast<std::uint64_t>((bucket.tat - now).count());
    return static_cast<Wide>(whole) * limit.parts() + bucket.parts;
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
    bucket = in_parts_of(limit, bucket);
    if (bucket.tat < now) {
        bucket = {now, 0};
    }
    // cost <= burst, so the product is below 2^63, and the sum with parts below 2^64.
    const std::uint64_t added = cost.count() * limit.period() + bucket.parts;
    bucket.tat += Nanoseconds{static_cast<std::int64_t>(added / limit.parts())};
    bucket.parts = static_cast<std::uint32_t>(added % limit.parts());
}

Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept {
    const Wide debt = debt_of(bucket, limit, now);
    if (debt >= limit.full()) {
        return Units{0};
    }
    return Units{(limit.full() - static_cast<std::uint64_t>(debt)) / limit.period()};
}

std::optional<Nanoseconds> wait(const Gcra& bucket, const Limit& limit, Instant now,
                                Units cost) noexcept {
    if (cost.count() > limit.burst()) {
        return std::nullopt;
    }
    const Wide debt = debt_of(bucket, limit, now);
    const Wide room = tolerance(limit, cost);
    if (debt <= room) {
        return Nanoseconds{0};
    }
    const Wide excess = debt - room;
    return Nanoseconds{static_cast<std::int64_t>((excess + limit.parts() - 1) / limit.parts())};
}

}  // namespace sluice
