#include "control/replay/replay_clock.hpp"

#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <variant>

namespace sluice {
namespace {

// Keys with numbers of their own may owe for longer; when those of a token or leaky bucket end,
// what they owe is read in the limit's. Windows end when they would have.
Nanoseconds longest_debt_of(const LoadedSet& rules) {
    Nanoseconds longest = rules.longest_debt;
    for (const LoadedRule& rule : rules.rules) {
        if (rule.overrides != nullptr) {
            for (const LimitOverride& own : rule.overrides->numbers) {
                const bool is_read_anew = own.until != kForever && gcra_of(own.numbers) != nullptr;
                const Nanoseconds after = is_read_anew ? rules.longest_debt : Nanoseconds{0};
                longest = std::max(longest, longest_debt(own.numbers) + kLongestDelay + after);
            }
        }
    }
    return longest;
}

// The window of a limit whose windows lie on the instants.
struct WindowOnInstants {
    std::int64_t operator()(const FixedWindowLimit& limit) const {
        const bool by_instants = limit.phase == WindowPhase::PerKey && !limit.is_by_utc();
        return by_instants ? limit.numbers.window : 1;
    }
    std::int64_t operator()(const SlidingWindowLimit& limit) const {
        return limit.is_by_utc() ? 1 : limit.numbers.window;
    }
    std::int64_t operator()(const SlidingCountersLimit& limit) const {
        return limit.numbers.window;
    }
    std::int64_t operator()(const DistinctLimit& limit) const { return limit.half(); }
    std::int64_t operator()(const auto& /*limit*/) const { return 1; }
};

// A common multiple of all windows. Where the least is longer than any debt a window that it leaves
// out begins elsewhere after a pause, with nothing in it.
Nanoseconds cycle_of(const LoadedSet& rules) {
    std::int64_t cycle = 1;
    for (const LoadedRule& rule : rules.rules) {
        for (const LoadedLimit& limit : rule.limits) {
            const std::int64_t window = std::visit(WindowOnInstants{}, limit.limit);
            const std::int64_t factor = window / std::gcd(cycle, window);
            cycle = cycle <= kLongestDebt.count() / factor ? cycle * factor : cycle;
        }
    }
    return Nanoseconds{cycle};
}

}  // namespace

bool lies_on_instants(const AnyLimit& limit) {
    return std::visit(WindowOnInstants{}, limit) != 1;
}

// Tables count ages in parts of a second.
ReplayClock::ReplayClock(const LoadedSet& rules, Nanoseconds longest_timeout)
    : longest_memory_{std::max<Nanoseconds>(longest_debt_of(rules),
                                            longest_timeout + std::chrono::seconds{1})},
      cycle_{cycle_of(rules)} {}

Now ReplayClock::at(Instant captured) {
    if (!first_) {
        first_ = last_ = captured;
    }
    const Nanoseconds pause = captured - last_;
    const bool forgets_all = pause > longest_memory_;
    if (forgets_all) {
        left_out_ += (pause - longest_memory_) / cycle_ * cycle_;
    }
    last_ = captured;
    const Instant end = kEndOfInstants - longest_memory_;
    Instant at{captured - *first_ - left_out_};
    begins_anew_ = forgets_all && at.time_since_epoch() > end.time_since_epoch() / 2;
    if (begins_anew_) {
        left_out_ += at.time_since_epoch() / cycle_ * cycle_;
        at = Instant{captured - *first_ - left_out_};
    }
    stopped_ = stopped_ || at > end;
    const Instant shown = std::min(at, end);
    return {shown, captured - shown};
}

}  // namespace sluice
