#pragma once
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <vector>

namespace sluice {

// Says what is wrong with a rule whose ban is to hold for sources: keys that are none, limits whose
// refusals would never count. `ban` is what the file says of it.
void check_source_ban(const YamlNode& ban, Rule& rule, const ReadContext& context);

// Bans of all rules together are judged: there may be too many of them, or no service whose
// connections have handshakes. `placed`: beside each rule of the set.
void check_source_bans(const CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                       Problems& problems);

}  // namespace sluice
