#pragma once
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Fills `coarser` of every limit of a rule that coarsens. A step whose numbers do not fit keeps
// those of the step before, which admit less. False: there is such a step.
bool fill_coarser(Rule& rule);

}  // namespace sluice
