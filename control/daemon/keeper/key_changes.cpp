#include "control/daemon/keeper/key_changes.hpp"

#include <utility>

namespace sluice {

RuleChange KeyChanges::set(KeySetting setting, uid_t from) {
    setting.set_at = rules_.applied.now();
    setting.set_by = from;
    setting.is_new = true;
    return rules_.change([&](StoredRules& next) -> std::optional<Refusal> {
        next.changed_at = rules_.applied.now();
        next.changed_by = from;
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

RuleChange KeyChanges::unset(const SettingChoice& choice, uid_t from) {
    return rules_.change([&](StoredRules& next) -> std::optional<Refusal> {
        next.changed_at = rules_.applied.now();
        next.changed_by = from;
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
