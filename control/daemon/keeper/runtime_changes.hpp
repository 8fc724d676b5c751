#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/keeper/live_rules.hpp"

#include <string>

// Changes of the set in force that no rule file makes.
namespace sluice {

// A mode belongs to the set it is set on. Of those that are set on a trial, monitor and off go on
// with the set of before where the trial goes back: a rule that was eased refuses nothing by
// itself again. Enforce goes with the trial, whose end is the way out for who is shut out.
[[nodiscard]] RuleChange set_mode(LiveRules& rules, const std::string& rule, Mode mode,
                                  const Author& from);

// Settings belong to their keys and not to a file: they go on with every set that has the rule,
// whether applied, on trial or brought back, until they end. All of them are set, or none. Numbers
// for a rule with `dynamic` are within its bounds, and end after its ttl at the latest.
[[nodiscard]] RuleChange set_keys(LiveRules& rules, KeySettings settings, const Author& from);
[[nodiscard]] RuleChange unset_keys(LiveRules& rules, const std::vector<SettingChoice>& choices,
                                    const Author& from);

}  // namespace sluice
