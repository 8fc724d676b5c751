#include "lib/engine/decide/decide_fast.hpp"

#include <algorithm>
#include <bit>
#include <span>

// Packets of the fast path that some limit refuses, or whose key is exempt or coarsened.
namespace sluice {

ActiveRule& FastPath::active_rule_of(const BucketLookup& lookup) noexcept {
    return scratch_.rules[scratch_.active_of[limit_of(lookup).rule]];
}

// decide_refused() where the limit that refuses is the only one that judges the packet: nothing is
// charged then, whatever the verdict.
[[gnu::always_inline]] inline bool FastPath::refuse_alone(std::size_t row,
                                                          const BucketLookup& lookup) noexcept {
    const LimitPlan& limit = limit_of(lookup);
    const RulePlan& rule = set_.meter_plan.rules[limit.rule];
    if (!rule.refuses_fast || rule.mode != Mode::Enforce || rule.tells_wait ||
        core_.policy.tell_wait) {
        return false;
    }
    burst_.packets()[row].decision = {.verdict = rule.exceed_verdict,
                                      .reason = Reason::OverLimit,
                                      .key = limit.key,
                                      .action = rule.on_exceed,
                                      .rule = limit.rule};
    note_refusal(lookup);
    active_rule_of(lookup).refused |= row_bit(row);
    otherwise_ |= row_bit(row);
    return true;
}

void FastPath::note_refusal(const BucketLookup& lookup) noexcept {
    const LimitPlan& limit = limit_of(lookup);
    const RulePlan& rule = set_.meter_plan.rules[limit.rule];
    if (rule.limits > 1) {
        core_.counters.limits.refused(rule.counters, limit.index);
        if (core_.watching != nullptr) {
            scratch_.refuses_in(lookup) = true;
        }
    }
}

[[gnu::noinline]] bool FastPath::keep_stricter_rules(std::size_t row,
                                                     std::span<const BucketLookup> lookups,
                                                     const CheckFindings& found) noexcept {
    const PacketOutcome outcome{set_.meter_plan, lookups, found, core_.policy.tell_wait};
    if (!outcome.may_decide() ||
        (found.shared != 0 && !commit_shared(lookups, outcome.spending()))) {
        return false;
    }
    const auto each = [&](std::uint64_t bits, auto&& visit) {
        for (; bits != 0; bits &= bits - 1) {
            visit(lookups[static_cast<std::size_t>(std::countr_zero(bits))]);
        }
    };
    commit_each(lookups, outcome.spending(), found.coarsened);
    count_coarsened(found.coarsened);
    if (core_.watching != nullptr) {
        std::fill_n(&scratch_.refuses_in(lookups.front()), lookups.size(), false);
    }
    each(found.refused, [&](const BucketLookup& lookup) { note_refusal(lookup); });
    each(outcome.refusing(),
         [&](const BucketLookup& lookup) { active_rule_of(lookup).refused |= row_bit(row); });
    each(outcome.exempting() & ~outcome.kept_back(),
         [&](const BucketLookup& lookup) { active_rule_of(lookup).exempt |= row_bit(row); });
    each(outcome.kept_back(),
         [&](const BucketLookup& lookup) { active_rule_of(lookup).skipped |= row_bit(row); });
    burst_.packets()[row].decision = outcome.decision();
    otherwise_ |= row_bit(row);
    return true;
}

bool FastPath::decide_refused(std::size_t row, std::span<const BucketLookup> lookups,
                              const CheckFindings& found) noexcept {
    return (lookups.size() == 1 && found.refused != 0 && found.coarsened == 0 &&
            refuse_alone(row, lookups.front())) ||
           keep_stricter_rules(row, lookups, found);
}

}  // namespace sluice
