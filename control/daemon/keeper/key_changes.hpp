#pragma once
#include "control/daemon/keeper/live_rules.hpp"
#include "control/daemon/key_settings.hpp"

namespace sluice {

// Settings of single keys, made at run time. They belong to the keys and not to a file: they go on
// with every set that has the rule, whether applied, on trial or brought back, until they end.
class KeyChanges {
public:
    explicit KeyChanges(LiveRules& rules) noexcept : rules_{rules} {}

    [[nodiscard]] RuleChange set(KeySetting setting, uid_t from);
    [[nodiscard]] RuleChange unset(const SettingChoice& choice, uid_t from);

private:
    LiveRules& rules_;
};

}  // namespace sluice
