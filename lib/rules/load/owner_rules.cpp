#include "lib/rules/load/owner_rules.hpp"

namespace sluice {
namespace {

std::uint16_t steering_of(const LoadedRule& rule) noexcept {
    if (!rule.has_limits()) {
        return rule.mode == Mode::Enforce ? kDecidesOnSight : kHandsNothing;
    }
    const bool budget = rule.owner_group != 0 && rule.on_match == OnMatch::Bypass;
    return static_cast<std::uint16_t>(rule.owner_group | (budget ? kIsBudget : 0));
}

}  // namespace

void list_owner_rules(LoadedSet& set, std::size_t workers) {
    set.steering.clear();
    if (workers < 2 || set.owner_groups.empty()) {
        return;
    }
    for (const LoadedRule& rule : set.rules) {
        set.steering.push_back(steering_of(rule));
    }
}

}  // namespace sluice
