#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Fills `coarser` of every limit of a rule that coarsens. Error (OutOfRange): a limit times
// factor^3 does not fit.
[[nodiscard]] Result<Done> fill_coarser(Rule& rule);

// Gives the limits of a set their slots, in order, from 1 on: for a set that starts with empty
// tables and is never replaced (replay, tests).
void number_limits(RuleSet& set);

}  // namespace sluice
