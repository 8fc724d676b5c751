#include "lib/rules/load/limit_quotas.hpp"

#include <chrono>
#include <variant>

namespace sluice {
namespace {

// A bucket allots its burst in the time that it takes to fill; a window its count.
struct QuotaOf {
    QuotaNumbers operator()(const Limit& gcra) const noexcept {
        return {.quota = gcra.burst(), .window = seconds(gcra.full() / gcra.parts())};
    }
    QuotaNumbers operator()(const TokenBucketLimit& limit) const noexcept {
        return (*this)(limit.gcra);
    }
    QuotaNumbers operator()(const LeakyBucketLimit& limit) const noexcept {
        return (*this)(limit.gcra);
    }
    QuotaNumbers operator()(const ColorLimit& limit) const noexcept {
        return (*this)(limit.first());
    }
    QuotaNumbers operator()(const PenaltyLimit& /*limit*/) const noexcept { return {}; }
    QuotaNumbers operator()(const auto& limit) const noexcept {
        return {.quota = limit.numbers.count,
                .window = seconds(static_cast<std::uint64_t>(limit.numbers.window))};
    }
    // Rounded up, so that it promises no more than the limit does. Less than a second has no
    // window: there are no parts of seconds (3.1.3 of the draft), and a whole one would say that
    // the limit admits a fraction of what it does.
    static std::uint64_t seconds(std::uint64_t nanoseconds) noexcept {
        const Nanoseconds window{static_cast<std::int64_t>(nanoseconds)};
        return window < std::chrono::seconds{1} ? 0 : retry_after_seconds(window);
    }
};

}  // namespace

LimitQuotas limit_quotas(const std::vector<LoadedRule>& rules) {
    LimitQuotas quotas;
    for (const LoadedRule& rule : rules) {
        quotas.first.push_back(static_cast<std::uint32_t>(quotas.limits.size()));
        for (const LoadedLimit& limit : rule.limits) {
            quotas.limits.push_back(std::visit(QuotaOf{}, limit.limit));
        }
    }
    return quotas;
}

}  // namespace sluice
