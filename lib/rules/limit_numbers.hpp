#pragma once
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Fills `coarser` of every limit of a rule that coarsens. A step whose numbers do not fit keeps
// those of the aggregation level before, which admit less. False: there is such a aggregation
// level.
bool fill_coarser(Rule& rule);

}  // namespace sluice
