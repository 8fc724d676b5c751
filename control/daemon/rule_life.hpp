#pragma once
#include "lib/policy/compile.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The life of a rule with a `ttl`.
struct RuleLife {
    std::int64_t first_applied = 0;  // UTC, seconds
    bool ended = false;              // its time has run out: it is left out of the rules in force

    [[nodiscard]] bool operator==(const RuleLife&) const = default;
};
using RuleLives = std::map<std::string, RuleLife>;  // by the rule's id

[[nodiscard]] bool has_ended(const std::string& rule, const RuleLives& lives);

// When a rule ends, UTC in seconds; nullopt: it has no ttl.
[[nodiscard]] std::optional<std::int64_t> end_of(const RuleSummary& rule, const RuleLives& lives);

// The earliest end still to come; nullopt: there is none.
[[nodiscard]] std::optional<std::int64_t> next_end(const std::vector<RuleSummary>& rules,
                                                   const RuleLives& lives);

// The lives of these rules from now on: a rule that was there before keeps its beginning, also when
// its ttl is another. What is not among them, or has no ttl any more, is forgotten, but for rules
// of tenants in `aside`, which come back.
[[nodiscard]] RuleLives renewed(const RuleLives& lives, const std::vector<RuleSummary>& rules,
                                std::int64_t now,
                                const std::map<std::string, std::string>& aside = {});

// True if the same of these rules have ended.
[[nodiscard]] bool same_ends(const std::vector<RuleSummary>& rules, const RuleLives& lives,
                             const RuleLives& others);

// A warning for each of these rules that has ended: applied again, it stays as it is. Nothing is
// wrong with the text, which was good before that. `file`: where a rule is that names no other.
[[nodiscard]] std::vector<Problem> ended_rules(const std::vector<RuleSummary>& rules,
                                               const RuleLives& lives, const std::string& file);

// The modes that the rules are compiled with: a rule that has ended is off, also where a
// mode was set for it.
[[nodiscard]] ModeOverrides modes_in_force(const ModeOverrides& modes, const RuleLives& lives);

}  // namespace sluice
