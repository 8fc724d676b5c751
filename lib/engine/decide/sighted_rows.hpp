#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/packet/row_sum.hpp"
#include "lib/rules/load/meter_plan.hpp"

#include <bit>
#include <cstdint>

// Counts of rules with on_match, which decide rows on sight or only watch.
namespace sluice {

inline void count_sighted(const RulePlan& rule, RowMask rows, const Burst& burst,
                          const CoreState& core) noexcept {
    RuleCounters& counters = core.counters.rules[rule.counters];
    const bool allows = forwards(rule.match_verdict);
    (allows ? counters.admitted : counters.exceeded)
        .add(static_cast<std::uint64_t>(std::popcount(rows)));
    (allows ? counters.admitted_bytes : counters.exceeded_bytes)
        .add(sum_of_rows(rows, burst.frames().wire));
}

// Counts these rows of Scratch::on_sight behind their turn: each under the rules up to the one that
// has decided it.
inline void count_sighted(const Burst& burst, RowMask rows, const MeterPlan& plan,
                          const CoreState& core) noexcept {
    RowMask open = burst.scratch().on_sight & rows;
    if (open == 0) {
        return;
    }
    for (const RuleMatch& match : burst.scratch().matches.matched()) {
        const RulePlan& rule = plan.rules[match.rule];
        if (rule.on_match == OnMatch::Act) {
            count_sighted(rule, match.rows & open, burst, core);
            open &= rule.mode == Mode::Enforce ? ~match.rows : ~RowMask{0};
        }
    }
}

}  // namespace sluice
