#include "lib/pipeline/shaping.hpp"

#include "lib/pipeline/ask_bucket.hpp"
#include "lib/pipeline/wait_of.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

void note_departure(LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                    RuleOutcome& outcome) noexcept {
    const std::optional<Nanoseconds> delay = delay_of(check, context);
    const bool in_time = delay.has_value() && *delay <= outcome.shape->max_delay;
    outcome.in_time &= in_time;
    if (!delay || *delay == Nanoseconds{0}) {
        return;
    }
    check.reserved = in_time && !is_admitted(check.conformance);
    check.conformance = in_time ? check.conformance : Conformance::Red;
    if (!outcome.refused) {
        outcome.key = limit.key;
        outcome.limit = &limit;
    }
    outcome.holder = *delay > outcome.delay ? &limit : outcome.holder;
    outcome.delay = std::max(outcome.delay, *delay);
    outcome.refused = true;
    outcome.over_limit = true;
    outcome.exceeded = true;
}

void note_delay(Match& match, const RuleOutcome& outcome, const MatchedRules& judged) noexcept {
    if (outcome.can_be_held() && judged.context.core.hold_room != 0 &&
        judged.rule(match).mode == Mode::Enforce) {
        match.delay = outcome.delay;
        return;
    }
    match.overflowed = outcome.refused;
    for (LimitCheck& check : judged.checks(match)) {
        check.reserved = false;
    }
}

Weight weight_of_refusal(const Match& match, const LoadedRule& rule, const RuleOutcome& outcome,
                         const Weight& weight) noexcept {
    if (outcome.shape == nullptr) {
        return weight;
    }
    if (match.delay != Nanoseconds{0}) {
        const auto at = static_cast<std::uint8_t>(outcome.holder - rule.limits.data());
        return {weight.action, weight.reason, outcome.holder->key, at};
    }
    const bool passes = outcome.shape->overflow == Verdict::Pass;
    return {passes ? kPassAction : kDropAction,
            outcome.can_be_held() ? Reason::HoldFull : weight.reason, weight.key, weight.limit};
}

}  // namespace sluice
