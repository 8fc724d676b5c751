#pragma once
#include "control/daemon/fair_turns.hpp"
#include "control/daemon/keeper/live_rules.hpp"

namespace sluice {

// Rule files that are applied.
class RuleApplier {
public:
    explicit RuleApplier(LiveRules& rules) noexcept : rules_{rules} {}

    // While one file is compiled, the newest of those that come waits, and the others are refused:
    // its rules would take their place at once.
    //
    // Modes set at run time end with the file they were set on. While a set is on trial, a file to
    // be confirmed takes its place, and the one kept before both is what is gone back to; a file
    // without that is meant to stay, and ends the trial.
    [[nodiscard]] RuleChange apply(RuleFile file);
    // Compiles what apply() would now. Changes nothing and waits for no change. One is compiled at
    // a time, since each takes the memory of a whole set. nullopt: a newer one took its place.
    [[nodiscard]] std::optional<Compiled> preview(RuleFile file);

private:
    [[nodiscard]] StoredRules as_applied(RuleFile file) const;

    LiveRules& rules_;
    FairTurns turns_;
    FairTurns previews_;
};

}  // namespace sluice
