#pragma once
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Fills `coarser` of every limit of a rule that coarsens. A step whose numbers do not fit keeps
// those of the step before, which admit less. False: there is such a step.
bool fill_coarser(Rule& rule);

// Gives the limits of a set their slots, in order, from 1 on: for a set that starts with empty
// tables and is never replaced (replay, tests).
void number_limits(RuleSet& set);

}  // namespace sluice
