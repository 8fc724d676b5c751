#pragma once
#include "lib/policy/clauses/overlaps.hpp"

#include <vector>

namespace sluice {

// Warns of rules that count connections from their handshake on, and whose conditions the SYN, or
// the ACK that completes it, cannot meet: they count none. `placed`: beside each rule of the set.
void warn_of_unmet_handshakes(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                              SetPool& pool, Problems& problems);

}  // namespace sluice
