#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/services/service_set.hpp"

#include <string>
#include <vector>

namespace sluice {

// Gives each rule of the set its stance. A rule is over services if, of every clause of its
// condition and every protocol that it can find units of there, the packets are all some service's
// of that protocol: by its fields, each of which is in the service's condition no narrower. So it
// is certain; a condition that only comes to the same may count as Partly or Anywhere.
void note_stances(const std::vector<PlacedService>& services, const std::vector<PlacedRule>& rules,
                  SetPool& pool, CompiledRules& compiled);

}  // namespace sluice
