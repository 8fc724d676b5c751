#pragma once
#include "lib/policy/clauses/overlaps.hpp"

#include <vector>

namespace sluice {

// Warns of rules that enforce over services, and whose key has a text that clients may leave out:
// under `missing_key: skip` who does meets no limit of theirs. No warning where the rule's own
// condition asks for the text, or where another rule that enforces counts the same units without
// it. Of very many rules only as many are compared as take no time to speak of. `placed`: beside
// each rule of the set, whose stances are known.
void warn_of_missing_parts(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                           SetPool& pool, Problems& problems);

}  // namespace sluice
