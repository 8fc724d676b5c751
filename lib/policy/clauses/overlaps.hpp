#pragma once
#include "lib/policy/clauses/clause_order.hpp"
#include "lib/policy/compile.hpp"

#include <vector>

namespace sluice {

// One rule of the set, as the file has it.
struct PlacedRule {
    Position at;
    std::size_t summary = 0;      // its index in CompiledRules::rules
    std::vector<Clause> clauses;  // what it matches; none: not known whole
};

// Warns of rules that never judge a packet, because one with on_match decides on each of theirs,
// and of rules that do all the same as one before them. `placed`: beside each rule of the set. Of
// very many rules only as many pairs are compared as take no time to speak of.
void warn_of_overlaps(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                      const SetPool& pool, Problems& problems);

}  // namespace sluice
