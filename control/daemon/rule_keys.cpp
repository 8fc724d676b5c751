#include "control/daemon/rule_keeper.hpp"

#include <utility>

// What operators say of single keys at run time. It belongs to the keys and not to a file: it goes
// on with every set that has the rule, whether applied, on trial or brought back.
namespace sluice {

Change RuleKeeper::set_key(KeySetting setting, uid_t from) {
    setting.set_at = now_();
    setting.set_by = from;
    return change_keys(from, [&](KeySettings& keys) -> std::optional<Refusal> {
        KeySetting next = setting;
        next.is_new = true;
        if (!put_setting(keys, std::move(next))) {
            return Refusal{Refusal::Kind::TooLarge,
                           "at most " + std::to_string(kMaxKeySettings) +
                               " things can be set for single keys; put the others into an "
                               "override file",
                           {}};
        }
        return std::nullopt;
    });
}

Change RuleKeeper::unset_key(const SettingChoice& choice, uid_t from) {
    return change_keys(from, [&](KeySettings& keys) -> std::optional<Refusal> {
        if (!remove_settings(keys, choice)) {
            return Refusal{Refusal::Kind::NothingSet,
                           choice.bans ? "the key " + choice.key + " is not banned"
                                       : "nothing was set for the key " + choice.key,
                           {}};
        }
        return std::nullopt;
    });
}

Change RuleKeeper::change_keys(uid_t from,
                               const std::function<std::optional<Refusal>(KeySettings&)>& edit) {
    for (;;) {
        std::unique_lock lock{changing_};
        if (current() == nullptr) {
            return refused(0, {Refusal::Kind::NoSuchRule, "no rules were ever applied", {}});
        }
        StoredRules next = *current();
        const KeySettings before = next.keys;
        forget_ended(next.keys, now_());
        if (std::optional<Refusal> refusal = edit(next.keys)) {
            return refused(generation(), *std::move(refusal));
        }
        next.changed_at = now_();
        next.changed_by = from;
        lock.unlock();
        Compiled compiled = compile_at(next, now_(), link_.spread());
        for (KeySetting& setting : next.keys) {
            setting.is_new = false;
        }
        lock.lock();
        if (is_in_force(next) && current()->keys == before && goes_on(next, compiled)) {
            return push(std::move(next), std::move(compiled),
                        {.force = true, .end = trial_ ? std::optional{trial_->end} : std::nullopt});
        }
        // Other rules came meanwhile: it is said of those.
    }
}

// A set that takes the place of the present one goes on with what is said of keys now.
bool RuleKeeper::keeps_keys(StoredRules& next) const {
    KeySettings keys = current() != nullptr ? current()->keys : KeySettings{};
    forget_ended(keys, now_());
    const bool same = keys == next.keys;
    next.keys = std::move(keys);
    return same;
}

}  // namespace sluice
