#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/check_limit.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/pipeline/look.hpp"

#include <span>

namespace sluice {

// The rules that match one packet, and where their looks lie.
struct MatchedRules {
    CheckContext context;
    std::span<Match> matches;
    LimitCheck* all_checks;

    [[nodiscard]] const LoadedRule& rule(const Match& match) const noexcept {
        return context.set.rules[match.rule];
    }
    [[nodiscard]] Verdict verdict_of(ActionIndex action) const noexcept {
        return context.set.actions[action].verdict;
    }
    [[nodiscard]] RuleCounters& counters(const Match& match) const noexcept {
        return context.core.counters.rules[rule(match).counters];
    }
    [[nodiscard]] BanCounters& bans(const Match& match) const noexcept {
        return context.core.counters.bans[rule(match).counters];
    }
    [[nodiscard]] std::span<LimitCheck> checks(const Match& match) const noexcept {
        return {&all_checks[match.first], rule(match).limits.size()};
    }
};

// The general path, for any packet that is well-formed: decides and charges.
[[nodiscard]] Decision decide_general(MatchedRules judged) noexcept;

}  // namespace sluice
