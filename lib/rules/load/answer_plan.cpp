#include "lib/rules/load/answer_plan.hpp"

#include "lib/rules/load/loaded_set.hpp"

#include <algorithm>
#include <utility>

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

Result<AnswerPlan> AnswerPlan::make(const std::vector<ResponseSpec>& responses,
                                    const std::vector<LoadedRule>& rules) {
    AnswerPlan plan;
    for (const ResponseSpec& spec : responses) {
        Result<MadeResponse> made = MadeResponse::compile(spec);
        if (!made) {
            return made.error();
        }
        plan.responses_.push_back(*std::move(made));
    }
    if (responses.empty()) {
        return plan;
    }
    for (const LoadedRule& rule : rules) {
        plan.first_quota_.push_back(static_cast<std::uint32_t>(plan.quotas_.size()));
        for (const LoadedLimit& limit : rule.limits) {
            plan.quotas_.push_back(std::visit(QuotaOf{}, limit.limit));
        }
    }
    return plan;
}

QuotaNumbers AnswerPlan::quota(const Decision& decision) const noexcept {
    const std::size_t at = decision.rule < first_quota_.size()
                               ? first_quota_[decision.rule] + std::size_t{decision.limit}
                               : quotas_.size();
    QuotaNumbers numbers = at < quotas_.size() ? quotas_[at] : QuotaNumbers{};
    // Where nothing says for how long, as in a full table, a client that comes back at once would
    // be refused again.
    numbers.retry_after = decision.wait == Nanoseconds::max()
                              ? QuotaNumbers::kNever
                              : std::max(std::uint64_t{1}, retry_after_seconds(decision.wait));
    return numbers;
}

}  // namespace sluice
