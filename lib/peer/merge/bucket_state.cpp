#include "lib/peer/merge/bucket_state.hpp"

#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

// A division of 128 bits takes many times as long as one of 64, and most limits need none.
Gcra owing_wide(Wide debt, std::uint32_t parts, Instant now) noexcept {
    if (debt >> 63 == 0) [[likely]] {
        return owing_parts(static_cast<std::uint64_t>(debt), parts, now);
    }
    const Wide rounded_up = (debt + parts - 1) / parts;
    return {now + Nanoseconds{static_cast<std::int64_t>(rounded_up)},
            static_cast<std::uint32_t>(rounded_up * parts - debt)};
}

}  // namespace

BucketState bucket_state_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                            Now now) noexcept {
    BucketState state;
    state.lasts = lasts_of(limit);
    if (state.has_counts()) {
        state.counts = counts_of(cell, limit, pool, now);
    } else if (state.has_tally()) {
        state.tally = tally_of(cell, limit, pool, now);
    } else {
        state.bucket = bucket_in(cell, *gcra_of(limit));
    }
    return state;
}

Due due_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now,
           Units cost) noexcept {
    if (const Limit* gcra = gcra_of(limit)) {
        return due_of(bucket_in(cell, *gcra), *gcra, now.at, cost);
    }
    if (windows_counted(limit) == 0) {
        return Due::Soon;
    }
    const WindowCounts counts = counts_of(cell, limit, pool, now);
    const std::uint64_t used = counts.current + counts.previous + cost.count();
    return used <= most_of(limit).count() / 2 ? Due::Late : Due::Soon;
}

Gcra charged(const Gcra& bucket, const Limit& limit, const Spent& spent, Instant now) noexcept {
    const auto delay = static_cast<std::uint64_t>(std::max(now - spent.at, Nanoseconds{0}).count());
    const Wide before = debt_in_parts<Wide>(bucket, limit.parts(), spent.at);
    const Wide debt = static_cast<Wide>(spent.units) * limit.period() + before;
    const Wide most =
        static_cast<Wide>(limit.full()) * 2 + static_cast<Wide>(delay) * limit.parts();
    return owing_wide(std::min(debt, std::max(most, before)), limit.parts(), spent.at);
}

Gcra charged_beyond(const Gcra& bucket, const Limit& limit, std::uint64_t units,
                    Instant now) noexcept {
    const Wide before = debt_in_parts<Wide>(bucket, limit.parts(), now);
    const Wide debt = static_cast<Wide>(units) * limit.period() + before;
    const Wide most = std::max<Wide>(limit.longest_debt(), before);
    return owing_wide(std::min(debt, most), limit.parts(), now);
}

std::uint64_t excess_of(const Gcra& bucket, const Limit& limit, Instant at) noexcept {
    const std::uint64_t debt = debt_of(bucket, limit, at);
    if (debt <= limit.full()) {
        return 0;
    }
    return (debt - limit.full() + limit.period() - 1) / limit.period();
}

}  // namespace sluice
