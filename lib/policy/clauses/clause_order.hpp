#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// A clause of a rule set, and the rule that it belongs to.
struct RuleClause {
    std::uint32_t rule = 0;
    Clause clause;
};

// Puts clauses side by side that the same packets satisfy: by their narrow fields, then by the
// values of these, addresses first. Fields with only a handful of sets come last: they would
// scatter what the others bring together. So the summary, one bit per 512, is seldom set.
//
// A block of several such kinds of clauses would be open to nearly every packet: clauses that are
// empty fill the last block of a kind that has one of its own, and are no clauses at all. There are
// none before this.
void sort_for_summary(std::vector<RuleClause>& clauses, const SetPool& pool);

}  // namespace sluice
