#pragma once
#include "lib/meter/siphash.hpp"
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Makes the tables in which the packet path finds overridden keys, under the secret of the hasher
// that digests them there; to be called before the limits get their slots.
void load_overrides(RuleSet& set, const HashSecret& secret);

}  // namespace sluice
