#pragma once
#include "lib/rules/rule_set.hpp"
#include "lib/wire/bytes_io.hpp"

namespace sluice {

void put_rule_set(Writer& out, const RuleSet& set);
// Without its generation and its databases of patterns.
void put_rules(Writer& out, const RuleSet& set);

// What comes back may break every rule of a rule set but this: its limits went through Limit::make.
[[nodiscard]] RuleSet get_rule_set(Reader& in);

}  // namespace sluice
