#pragma once
#include "control/daemon/rule_change.hpp"
#include "lib/wire/message.hpp"

#include <optional>
#include <string>

namespace sluice {

// Prometheus text format 0.0.4. Without a dataplane only what sluiced itself knows is there. Keys
// of rules are never labels.
[[nodiscard]] std::string metrics_text(const std::optional<Stats>& stats, const RuleView& rules);

}  // namespace sluice
