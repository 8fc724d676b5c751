#pragma once
#include "lib/policy/compile.hpp"

#include <string>
#include <vector>

namespace sluice {

// "service web", "anywhere: can be walked around by clients that mean to; declare a service".
// Empty: the rule is over no later layer.
[[nodiscard]] std::string text_of(const Stance& stance);

// An enforcing rule that is over a later layer and not over services alone: connections that cannot
// be read go around it.
struct RuleAnywhere {
    std::string id;
    std::vector<std::string> services{};  // that have some of its packets; empty: it is over none
    std::vector<std::string> beyond{};    // fields by which it reaches beyond them
};
[[nodiscard]] std::vector<RuleAnywhere> rules_anywhere(const std::vector<RuleSummary>& rules);

// The ids of those over no service: "api, search"; or of the others, each with its services and
// fields: "login (beyond service web by l4.dport), pay (beyond service web)". Empty: none.
[[nodiscard]] std::string over_none_text(const std::vector<RuleAnywhere>& rules);
[[nodiscard]] std::string beyond_text(const std::vector<RuleAnywhere>& rules);

}  // namespace sluice
