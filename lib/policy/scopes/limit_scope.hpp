#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/expression.hpp"
#include "lib/rules/port_spread.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sluice {

inline constexpr std::string_view kLocalScope = "local";
inline constexpr std::string_view kMergedScope = "merged";

// Of whom the limits under one key are asked.
struct ScopeQuestion {
    const Expression* condition = nullptr;  // nullptr: every packet, or nobody knows
    std::span<const KeyPart> key;
    MissingKey missing_key = MissingKey::Skip;
};

// Whether all packets of one key always meet the same worker: at every port whose packets the
// condition may see, what is hashed is a function of the key's parts, and the ports agree on what
// is hashed and on who gets it. Doubt is no.
[[nodiscard]] bool is_local(const ScopeQuestion& asked, const BoxSpread& box);

// Writes into each limit's summary whether it is local or merged.
void set_scopes(std::vector<RuleSummary>& rules, const BoxSpread& box);

// Tells the compiled limits which of them are merged, as their summaries have it. Doubt is yes.
void merge_limits(const std::vector<RuleSummary>& rules, RuleSet& set);

}  // namespace sluice
