#pragma once
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "lib/rules/rule_set.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The condition of a trace, compiled as those of rules are: one rule that decides nothing.
struct TraceCondition {
    std::optional<RuleSet> rules;   // nullopt: the problems say why
    std::vector<Problem> problems;  // places are in the condition
};

// `when` as in rules. What only a rule file says is not there: lists, databases, who a client is.
// Of texts, what rules name themselves (headers, cookies, functions of texts) is refused: packets
// have them by the numbers that the rules in force gave them.
[[nodiscard]] TraceCondition compile_condition(const std::string& when, const RssMapping& box);

}  // namespace sluice
