#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/pipeline/look.hpp"
#include "lib/pipeline/look_at.hpp"

#include <span>

namespace sluice {

// The rules that match one packet, and where their looks lie.
struct Judged {
    Judging judging;
    std::span<Match> matches;
    Look* all_looks;

    [[nodiscard]] const LoadedRule& rule(const Match& match) const noexcept {
        return judging.set.rules[match.rule];
    }
    [[nodiscard]] Verdict verdict_of(ActionIndex action) const noexcept {
        return judging.set.actions[action].verdict;
    }
    [[nodiscard]] RuleCounters& counters(const Match& match) const noexcept {
        return judging.core.counters.rules[rule(match).counters];
    }
    [[nodiscard]] BanCounters& bans(const Match& match) const noexcept {
        return judging.core.counters.bans[rule(match).counters];
    }
    [[nodiscard]] std::span<Look> looks(const Match& match) const noexcept {
        return {&all_looks[match.first], rule(match).limits.size()};
    }
};

// The general path, for any packet that is well-formed: decides and charges.
[[nodiscard]] Decision judge_slow(Judged judged) noexcept;

}  // namespace sluice
