#include "lib/respond/answer/answer_plan.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
Result<AnswerPlan> AnswerPlan::make(const std::vector<ResponseSpec>& responses,
                                    LimitQuotas quotas) {
    AnswerPlan plan;
    for (const ResponseSpec& spec : responses) {
        Result<MadeResponse> made = MadeResponse::compile(spec);
        if (!made) {
            return made.error();
        }
        plan.responses_.push_back(*std::move(made));
    }
    plan.quotas_ = std::move(quotas);
    return plan;
}

QuotaNumbers AnswerPlan::quota(const Decision& decision) const noexcept {
    const std::size_t at = decision.rule < quotas_.first.size()
                               ? quotas_.first[decision.rule] + std::size_t{decision.limit}
                               : quotas_.limits.size();
    QuotaNumbers numbers = at < quotas_.limits.size() ? quotas_.limits[at] : QuotaNumbers{};
    // Clients told no time, as in a full table, would come back at once and be refused again.
    numbers.retry_after = decision.wait == Nanoseconds::max()
                              ? QuotaNumbers::kNever
                              : std::max(std::uint64_t{1}, retry_after_seconds(decision.wait));
    return numbers;
}

}  // namespace sluice
