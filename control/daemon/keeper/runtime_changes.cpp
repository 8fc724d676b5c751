#include "control/daemon/keeper/runtime_changes.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

RuleChange set_mode(LiveRules& rules, const std::string& rule, Mode mode, uid_t from) {
    return rules.change(from, [&](StoredRules& next) -> std::optional<Refusal> {
        const std::shared_ptr<const RuleView> shown = rules.board.view();
        const auto found =
            std::find_if(shown->rules.begin(), shown->rules.end(), [&](const RuleSummary& known) {
                return known.id == rule && known.kind == RuleKind::Rule;
            });
        if (found == shown->rules.end()) {
            return Refusal{Refusal::Kind::NoSuchRule, "there is no rule " + rule, {}};
        }
        if (has_ended(rule, next.lives)) {
            return Refusal{Refusal::Kind::NoSuchRule,
                           "the rule " + rule + " has ended: its ttl has run out",
                           {}};
        }
        next.modes[rule] = mode;
        if (shown->file_modes[static_cast<std::size_t>(found - shown->rules.begin())] == mode) {
            next.modes.erase(rule);
        }
        return std::nullopt;
    });
}

RuleChange set_key(LiveRules& rules, KeySetting setting, uid_t from) {
    setting.set_at = rules.applied.now();
    setting.set_by = from;
    setting.is_new = true;
    return rules.change(from, [&](StoredRules& next) -> std::optional<Refusal> {
        if (!put_setting(next.keys, setting)) {
            return Refusal{Refusal::Kind::TooLarge,
                           "at most " + std::to_string(kMaxKeySettings) +
                               " things can be set for single keys; put the others into an "
                               "override file",
                           {}};
        }
        return std::nullopt;
    });
}

RuleChange unset_key(LiveRules& rules, const SettingChoice& choice, uid_t from) {
    return rules.change(from, [&](StoredRules& next) -> std::optional<Refusal> {
        if (!remove_settings(next.keys, choice)) {
            return Refusal{Refusal::Kind::NothingSet,
                           choice.bans ? "the key " + choice.key + " is not banned"
                                       : "nothing was set for the key " + choice.key,
                           {}};
        }
        return std::nullopt;
    });
}

}  // namespace sluice
