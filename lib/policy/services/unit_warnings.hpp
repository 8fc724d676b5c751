#pragma once
#include "lib/policy/clauses/overlaps.hpp"

#include <vector>

namespace sluice {

// Warns of rules over a later layer that can never count or match anything, that are about a port
// of TLS and not about TLS, that bytes which no reader follows go around, or whose answer is
// another one over the services that they are of. `placed`: beside each rule of the set, whose
// stances are known.
void warn_of_units(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                   const SetPool& pool, Problems& problems);

}  // namespace sluice
