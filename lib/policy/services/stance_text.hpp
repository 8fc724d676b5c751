#pragma once
#include "lib/policy/compile.hpp"

#include <string>
#include <vector>

namespace sluice {

// "service web", "anywhere: can be walked around by clients that mean to; declare a service".
// Empty: the rule is over no later layer.
[[nodiscard]] std::string text_of(const Stance& stance);

// Enforcing rules, by id, that are over a later layer and not over services alone: connections that
// cannot be read go around them.
[[nodiscard]] std::vector<std::string> rules_anywhere(const std::vector<RuleSummary>& rules);

}  // namespace sluice
