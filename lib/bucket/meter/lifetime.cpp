#include "lib/bucket/meter/lifetime.hpp"

#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/open_connections.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_log.hpp"
#include "lib/bucket/meter/sliding_window.hpp"

#include <algorithm>
#include <variant>

namespace sluice {
namespace {

Nanoseconds debt_of(const Limit& limit) noexcept {
    return Nanoseconds{static_cast<std::int64_t>(limit.full() / limit.parts()) + 1};
}

// Of so many units that were used under other numbers.
Nanoseconds debt_of(const Limit& limit, Units used) noexcept {
    const Wide debt =
        std::min<Wide>(static_cast<Wide>(used.count()) * limit.period(), limit.longest_debt());
    return Nanoseconds{static_cast<std::int64_t>(debt / limit.parts()) + 1};
}

// A sliding window weighs the one before, and the last of its sub-windows ends a little later.
Nanoseconds debt_of(const WindowNumbers& numbers) noexcept {
    return Nanoseconds{numbers.window} * 2;
}

struct LongestDebt {
    Nanoseconds operator()(const TokenBucketLimit& limit) const { return debt_of(limit.gcra); }
    Nanoseconds operator()(const LeakyBucketLimit& limit) const { return debt_of(limit.gcra); }
    Nanoseconds operator()(const FixedWindowLimit& limit) const { return debt_of(limit.numbers); }
    Nanoseconds operator()(const SlidingWindowLimit& limit) const { return debt_of(limit.numbers); }
    Nanoseconds operator()(const SlidingCountersLimit& limit) const {
        return debt_of(limit.numbers);
    }
    Nanoseconds operator()(const SlidingLogLimit& limit) const { return debt_of(limit.numbers); }
    Nanoseconds operator()(const ConcurrencyLimit& limit) const {
        return Nanoseconds{limit.numbers.window};
    }
    Nanoseconds operator()(const PenaltyLimit& limit) const {
        return Nanoseconds{std::max(limit.within, limit.lasts)};
    }
    Nanoseconds operator()(const ColorLimit& limit) const {
        return debt_of(limit.first()) + debt_of(limit.second());
    }
};

struct FreshFrom {
    const Cell& cell;
    const LinePool& pool;
    Now now;

    Instant operator()(const TokenBucketLimit& /*limit*/) const { return cell.fresh_from; }
    Instant operator()(const LeakyBucketLimit& /*limit*/) const { return cell.fresh_from; }
    Instant operator()(const FixedWindowLimit& limit) const {
        return pool.at<FixedWindow>(cell.rest).fresh_from(limit, now);
    }
    Instant operator()(const SlidingWindowLimit& limit) const {
        return pool.at<SlidingWindow>(cell.rest).fresh_from(limit, now.at);
    }
    Instant operator()(const SlidingCountersLimit& limit) const {
        return pool.at<SlidingCounters>(cell.rest).fresh_from(SubWindowSlots{limit}, now.at);
    }
    Instant operator()(const SlidingLogLimit& limit) const {
        return pool.at<SlidingLog>(cell.rest).fresh_from(LogSlots{limit}, now.at);
    }
    Instant operator()(const ConcurrencyLimit& /*limit*/) const {
        return pool.at<OpenConnections>(cell.rest).fresh_from(pool, now.at);
    }
    Instant operator()(const PenaltyLimit& limit) const {
        const SlidingLogLimit log{{.count = limit.after, .window = limit.within}};
        return cell.rest == kNoLine
                   ? cell.fresh_from
                   : pool.at<SlidingLog>(cell.rest).fresh_from(LogSlots{log}, now.at);
    }
    Instant operator()(const ColorLimit& /*limit*/) const {
        return pool.at<ColorMeter>(cell.rest).fresh_from();
    }
};

}  // namespace

Nanoseconds longest_debt(const AnyLimit& limit) noexcept {
    return std::visit(LongestDebt{}, limit);
}

Nanoseconds longest_debt(const AnyLimit& limit, Units used) noexcept {
    const Nanoseconds debt = longest_debt(limit);
    const auto with_used = [&](const auto& numbers) noexcept {
        if constexpr (requires { numbers.gcra; }) {
            return std::max(debt, debt_of(numbers.gcra, used));
        } else if constexpr (requires { numbers.second(); }) {
            return std::max(
                {debt, debt_of(numbers.first(), used), debt_of(numbers.second(), used)});
        } else {
            return debt;
        }
    };
    return std::visit(with_used, limit);
}

// A colour meter's buckets may fill one after the other.
Units most_used(const AnyLimit& limit) noexcept {
    const auto* colors = std::get_if<ColorLimit>(&limit);
    return colors != nullptr ? Units{colors->first().burst() + colors->second().burst()}
                             : most_of(limit);
}

Instant fresh_from(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                   Now now) noexcept {
    return std::visit(FreshFrom{cell, pool, now}, limit);
}

}  // namespace sluice
