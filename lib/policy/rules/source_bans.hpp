#pragma once
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/services/service_set.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>
#include <vector>

namespace sluice {

// Says what is wrong with a rule whose ban is to hold for sources: keys that are none, limits whose
// refusals would never count. `ban` is what the file says of it.
void check_source_ban(const YamlNode& ban, Rule& rule, const ReadContext& context);

// Bans of all rules together are judged: there may be too many of them, none of their packets may
// prove who sent it, or all clients may come by way of a proxy. `placed`: beside each rule of the
// set; `services`: beside each service.
void check_source_bans(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                       std::span<const PlacedService> services, SetPool& pool, Problems& problems);

}  // namespace sluice
