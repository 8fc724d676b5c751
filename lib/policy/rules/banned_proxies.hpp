#pragma once
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/services/service_set.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>
#include <vector>

namespace sluice {

// Warns of rules that ban sources and may meet what comes from a proxy, of a service or of
// client_ip, unless a budget of bypass has all of that: behind a proxy all clients have its
// address. `placed`: beside each rule of the set; `services`: beside each service.
void warn_of_banned_proxies(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                            std::span<const PlacedService> services, SetPool& pool,
                            Problems& problems);

}  // namespace sluice
