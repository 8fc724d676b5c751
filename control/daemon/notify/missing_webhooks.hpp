#pragma once
#include "control/daemon/notify/notice_sender.hpp"
#include "control/daemon/rule_change.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {

// Webhooks that sluice.yaml does not have, by name, and the rules in force that name them.
using MissingWebhooks = std::map<std::string, std::vector<std::string>>;
[[nodiscard]] MissingWebhooks missing_webhooks(const RuleView& view, const NoticeSender& sender);

// "sluice.yaml has no such webhook; named by flood, login and 3 more": a few of the rules.
[[nodiscard]] std::string missing_text(const std::vector<std::string>& rules);

}  // namespace sluice
