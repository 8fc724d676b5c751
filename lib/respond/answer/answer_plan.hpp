#pragma once
#include "lib/base/result.hpp"
#include "lib/respond/answer/made_response.hpp"
#include "lib/respond/answer/quota_numbers.hpp"
#include "lib/respond/decision.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// The quotas of all limits, rule by rule.
struct LimitQuotas {
    std::vector<std::uint32_t> first;  // by rule: of its first limit
    std::vector<QuotaNumbers> limits;
};

// The responses of actions, put together when rules are loaded.
class AnswerPlan {
public:
    AnswerPlan() = default;
    // An error says which response cannot be sent.
    [[nodiscard]] static Result<AnswerPlan> make(const std::vector<ResponseSpec>& responses,
                                                 LimitQuotas quotas);

    // The response of an action that names one.
    [[nodiscard]] const MadeResponse& response(const AnswerTerms& answer) const noexcept {
        return responses_[answer.response - std::size_t{1}];
    }
    // The quota of the limit that refused, when nothing was left of it.
    [[nodiscard]] QuotaNumbers quota(const Decision& decision) const noexcept;

private:
    std::vector<MadeResponse> responses_;
    LimitQuotas quotas_;
};

}  // namespace sluice
