#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Makes the tables that give packets the countries and ASNs that the rules of a set ask for. The
// origins of the set are sound: find_fault() says so. Where `before`, a set with its tables, has the
// same origins, the tables are shared. TooMany: they would take too much memory; the set has none
// then.
[[nodiscard]] Result<Done> map_origins(RuleSet& set, const RuleSet* before);

}  // namespace sluice
