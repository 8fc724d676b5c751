#pragma once
#include "lib/policy/clauses/overlaps.hpp"

#include <vector>

namespace sluice {

// Warns of limits that never judge a packet, since none that the rule's condition lets through has
// all that they read: the fields of the key, the SYN of `per: connection`, the field of `of`. Warns
// of `distinct` too whose field has no more values there than its count. `placed`: beside each rule
// of the set.
void warn_of_idle_limits(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                         SetPool& pool, Problems& problems);

}  // namespace sluice
