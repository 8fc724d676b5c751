#include "control/daemon/dynamic_count.hpp"

#include <algorithm>

namespace sluice {

const RuleSummary* find_rule(const std::vector<RuleSummary>& rules, const std::string& id) {
    const auto found = std::find_if(rules.begin(), rules.end(),
                                    [&](const RuleSummary& rule) { return rule.id == id; });
    return found == rules.end() ? nullptr : &*found;
}

DynamicCount count_dynamic(const KeySettings& settings, const std::vector<RuleSummary>& rules,
                           std::int64_t now) {
    DynamicCount count;
    for (const RuleSummary& rule : rules) {
        if (rule.dynamic) {
            count.by_rule[rule.id] = 0;
        }
    }
    for (const KeySetting& setting : settings) {
        const auto rule = count.by_rule.find(setting.rule);
        if (rule != count.by_rule.end() && setting.what == KeySetting::What::Numbers &&
            !has_ended(setting, now)) {
            ++rule->second;
            ++count.in_all;
        }
    }
    return count;
}

void RefusedSets::count(const std::string& rule, const std::vector<RuleSummary>& rules) {
    const std::lock_guard lock{mutex_};
    ++by_rule_[rule];
    if (by_rule_.size() > rules.size()) {
        std::erase_if(by_rule_,
                      [&](const auto& one) { return find_rule(rules, one.first) == nullptr; });
    }
}

std::uint64_t RefusedSets::of(const std::string& rule) const {
    const std::lock_guard lock{mutex_};
    const auto found = by_rule_.find(rule);
    return found == by_rule_.end() ? 0 : found->second;
}

}  // namespace sluice
