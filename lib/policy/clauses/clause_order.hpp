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
//
// A block in which such kinds of clauses met would be looked at for nearly every packet: clauses
// that are empty fill the last block of a kind that has one of its own, and are no clauses at all.
// There are none before this.
void sort_for_summary(std::vector<RuleClause>& clauses, const SetPool& pool);

}  // namespace sluice
