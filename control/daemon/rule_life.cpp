#include "control/daemon/rule_life.hpp"

#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace sluice {

bool has_ended(const std::string& rule, const RuleLives& lives) {
    const auto life = lives.find(rule);
    return life != lives.end() && life->second.ended;
}

std::optional<std::int64_t> end_of(const RuleSummary& rule, const RuleLives& lives) {
    const auto life = lives.find(rule.id);
    if (!rule.ttl || life == lives.end()) {
        return std::nullopt;
    }
    return life->second.first_applied + std::chrono::ceil<std::chrono::seconds>(*rule.ttl).count();
}

std::optional<std::int64_t> next_end(const std::vector<RuleSummary>& rules,
                                     const RuleLives& lives) {
    std::optional<std::int64_t> next;
    for (const RuleSummary& rule : rules) {
        const std::optional<std::int64_t> end = end_of(rule, lives);
        if (end && !has_ended(rule.id, lives)) {
            next = std::min(next.value_or(*end), *end);
        }
    }
    return next;
}

RuleLives renewed(const RuleLives& lives, const std::vector<RuleSummary>& rules, std::int64_t now,
                  const std::map<std::string, std::string>& aside) {
    RuleLives next;
    std::ranges::copy_if(lives, std::inserter(next, next.end()), [&](const auto& life) {
        return aside.contains(std::string{tenant_of(life.first)});
    });
    for (const RuleSummary& rule : rules) {
        if (rule.ttl) {
            const auto before = lives.find(rule.id);
            next[rule.id].first_applied =
                before == lives.end() ? now : before->second.first_applied;
            next[rule.id].ended = *end_of(rule, next) <= now;
        }
    }
    return next;
}

bool same_ends(const std::vector<RuleSummary>& rules, const RuleLives& lives,
               const RuleLives& others) {
    return std::all_of(rules.begin(), rules.end(), [&](const RuleSummary& rule) {
        return has_ended(rule.id, lives) == has_ended(rule.id, others);
    });
}

std::vector<Problem> ended_rules(const std::vector<RuleSummary>& rules, const RuleLives& lives,
                                 const std::string& file) {
    std::vector<Problem> ended;
    for (const RuleSummary& rule : rules) {
        if (rule.kind == RuleKind::Rule && has_ended(rule.id, lives)) {
            ended.push_back(
                {rule.file.empty() ? file : rule.file,
                 {rule.line, 1},
                 Severity::Warning,
                 "the rule " + rule.id +
                     " has ended, since its ttl has run out, and does nothing; under another id "
                     "it begins anew"});
        }
    }
    return ended;
}

ModeOverrides modes_in_force(const ModeOverrides& modes, const RuleLives& lives) {
    ModeOverrides in_force = modes;
    for (const auto& [id, life] : lives) {
        if (life.ended) {
            in_force[id] = Mode::Off;
        }
    }
    return in_force;
}

}  // namespace sluice
