#pragma once
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

// The one list of a rule's actions. Rules are as they crossed the wire, or loaded.
namespace sluice {

// The occasions that a rule names an action for.
enum class ActionUse : std::uint8_t { Match, Exceed, Ban, Color };

struct UsedAction {
    ActionUse use;
    ActionIndex action;
};

// All that a rule names, also for what never happens under it.
template <typename AnyRule>
[[nodiscard]] std::array<UsedAction, 6> actions_of(const AnyRule& rule) noexcept {
    return {{{ActionUse::Match, rule.match_action},
             {ActionUse::Exceed, rule.on_exceed},
             {ActionUse::Ban, rule.ban.action},
             {ActionUse::Color, rule.on_color[0]},
             {ActionUse::Color, rule.on_color[1]},
             {ActionUse::Color, rule.on_color[2]}}};
}

// True if it happens under the rule.
template <typename AnyRule>
[[nodiscard]] bool has_use(const AnyRule& rule, ActionUse use) noexcept {
    switch (use) {
        case ActionUse::Match:
            return rule.on_match == OnMatch::Act;
        case ActionUse::Exceed:
            return rule.has_limits();
        case ActionUse::Ban:
            return rule.bans();
        case ActionUse::Color:
            return std::any_of(rule.limits.begin(), rule.limits.end(), [](const auto& limit) {
                return algorithm_of(limit.limit) == Algorithm::ColorMeter;
            });
    }
    return false;
}

// True if `is` says so of an action that packets may come to.
template <typename AnyRule, typename Is>
[[nodiscard]] bool any_action(const AnyRule& rule, Is&& is) {
    const auto actions = actions_of(rule);
    return std::any_of(actions.begin(), actions.end(), [&](const UsedAction& one) {
        return has_use(rule, one.use) && is(one.action);
    });
}

}  // namespace sluice
