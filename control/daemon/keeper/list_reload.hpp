#pragma once
#include "control/daemon/keeper/live_rules.hpp"

#include <optional>

namespace sluice {

// Brings the lists and databases of the rules in force up to their files. nullopt: the files hold
// what is in force. A file that cannot be read, or does not compile, leaves the old ones in force,
// and the view says why.
[[nodiscard]] std::optional<RuleChange> reload_lists(LiveRules& rules);

}  // namespace sluice
