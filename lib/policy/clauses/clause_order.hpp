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

// Puts clauses side by side that the same packets satisfy: by the fields that they ask narrowly,
// then by what they ask, addresses first. Fields of which only a handful of things is asked come
// after all that: they would scatter what the others bring together. So the summary, one bit per
// 512, is seldom set.
void sort_for_summary(std::vector<RuleClause>& clauses, const SetPool& pool);

}  // namespace sluice
