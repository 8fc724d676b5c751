#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sluice {

class PatternCache;

// A condition that stands in no rule file, compiled as those of rules are: one rule that decides
// nothing.
struct LoneCondition {
    std::optional<RuleSet> rules;   // nullopt: the problems say why
    std::vector<Problem> problems;  // places are in the condition
};

// `when` as in rules, on one line. What only a rule file says is not there: lists, databases, who a
// client is. Of texts, what rules name themselves (headers, cookies, functions of texts) is
// refused: packets have them by the numbers that the rules in force gave them.
[[nodiscard]] LoneCondition compile_lone_condition(const std::string& when, const RssMapping& box,
                                                   PatternCache* patterns,
                                                   const std::stop_token& stop);

}  // namespace sluice
