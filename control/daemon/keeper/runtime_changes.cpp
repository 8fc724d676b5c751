#include "control/daemon/keeper/runtime_changes.hpp"

#include "control/daemon/dynamic_count.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {
namespace {

// Dynamic numbers end by themselves, after the rule's ttl at the latest.
KeySetting ended_by(KeySetting setting, const DynamicTerms& terms) {
    if (setting.what == KeySetting::What::Numbers) {
        const std::int64_t last =
            setting.set_at + std::chrono::ceil<std::chrono::seconds>(terms.ttl).count();
        setting.until = setting.until == 0 ? last : std::min(setting.until, last);
    }
    return setting;
}

// The shape of the keys that a setting is for; empty: there is no such rule or tier.
std::string shape_for(const KeySetting& setting, const RuleSummary* rule) {
    return rule == nullptr || setting.tier == 0 || setting.tier > rule->keys.size()
               ? std::string{}
               : shape_of(rule->keys[setting.tier - 1], rule->text_names);
}

// The refusal for a rule that has more dynamic numbers than before, and too many.
std::optional<Refusal> no_room(const DynamicCount& before, const DynamicCount& after) {
    for (const auto& [rule, keys] : after.by_rule) {
        const auto had = before.by_rule.find(rule);
        if (keys > kMaxDynamicKeys && (had == before.by_rule.end() || keys > had->second)) {
            return Refusal{Refusal::Kind::TooLarge,
                           "the rule " + rule + " has as many dynamic numbers as it may have, " +
                               std::to_string(kMaxDynamicKeys) +
                               "; unset some, or wait until their ttl has run out",
                           {}};
        }
    }
    if (after.in_all > kMaxDynamicKeysInAll && after.in_all > before.in_all) {
        return Refusal{Refusal::Kind::TooLarge,
                       "the rules have as many dynamic numbers together as they may have, " +
                           std::to_string(kMaxDynamicKeysInAll) +
                           "; unset some, or wait until their ttl has run out",
                       {}};
    }
    return std::nullopt;
}

Refusal nothing_set(const std::vector<SettingChoice>& choices) {
    if (choices.size() != 1) {
        return {Refusal::Kind::NothingSet, "nothing was set for any of the keys", {}};
    }
    const SettingChoice& one = choices.front();
    return {Refusal::Kind::NothingSet,
            one.bans ? "the key " + one.key + " is not banned"
                     : "nothing was set for the key " + one.key,
            {}};
}

// Modes that the file gives the rule and the service of that name; there may be both.
std::vector<Mode> file_modes_of(const std::string& id, const RuleView& view) {
    std::vector<Mode> modes;
    for (std::size_t i = 0; i < view.rules.size(); ++i) {
        if (view.rules[i].id == id && view.rules[i].kind == RuleKind::Rule) {
            modes.push_back(view.file_modes[i]);
        }
    }
    for (std::size_t i = 0; i < view.services.size(); ++i) {
        if (view.services[i].id == id) {
            modes.push_back(view.service_file_modes[i]);
        }
    }
    return modes;
}

// A change of a tenant's rule is none of the operator's set: that one keeps who changed it last.
RuleChange change_of(LiveRules& rules, bool of_tenant, const Author& from,
                     const LiveRules::Edit& edit) {
    return of_tenant ? rules.change_unstamped(edit) : rules.change(from, edit);
}

bool is_of_tenant(const std::string& rule) {
    return !tenant_of(rule).empty();
}

}  // namespace

RuleChange set_mode(LiveRules& rules, const std::string& rule, Mode mode, const Author& from) {
    return change_of(
        rules, is_of_tenant(rule), from, [&](StoredRules& next) -> std::optional<Refusal> {
            const std::vector<Mode> in_file = file_modes_of(rule, *rules.board.view());
            if (in_file.empty()) {
                return Refusal{
                    Refusal::Kind::NoSuchRule, "there is no rule or service " + rule, {}};
            }
            if (has_ended(rule, next.lives)) {
                return Refusal{Refusal::Kind::NoSuchRule,
                               "the rule " + rule + " has ended: its ttl has run out",
                               {}};
            }
            if (rules.applied.trial() && !is_of_tenant(rule)) {
                next.set_on_trial[rule] = mode;
            }
            next.modes[rule] = mode;
            if (std::all_of(in_file.begin(), in_file.end(),
                            [mode](Mode as_written) { return as_written == mode; })) {
                next.modes.erase(rule);
            }
            return std::nullopt;
        });
}

RuleChange set_keys(LiveRules& rules, KeySettings settings, const Author& from) {
    for (KeySetting& setting : settings) {
        setting.set_at = rules.applied.now();
        setting.set_by = from.uid;
        setting.is_new = true;
    }
    const bool of_tenant =
        std::ranges::all_of(settings, [](const KeySetting& one) { return is_of_tenant(one.rule); });
    return change_of(rules, of_tenant, from, [&](StoredRules& next) -> std::optional<Refusal> {
        const std::shared_ptr<const RuleView> shown = rules.board.view();
        const DynamicCount before = count_dynamic(next.keys, shown->rules, rules.applied.now());
        KeySettings put;
        for (const KeySetting& setting : settings) {
            const RuleSummary* rule = find_rule(shown->rules, setting.rule);
            const DynamicTerms* terms =
                rule == nullptr || !rule->dynamic ? nullptr : &*rule->dynamic;
            put.push_back(terms == nullptr ? setting : ended_by(setting, *terms));
            if (setting.of.empty()) {
                put.back().of = shape_for(setting, rule);
            }
        }
        if (!put_settings(next.keys, put, next.keys_aside.size())) {
            return Refusal{Refusal::Kind::TooLarge,
                           "at most " + std::to_string(kMaxKeySettings) +
                               " things can be set for single keys, " +
                               std::to_string(kMaxTenantKeySettings) +
                               " of them for those of a tenant; put the others into an "
                               "override file",
                           {}};
        }
        return no_room(before, count_dynamic(next.keys, shown->rules, rules.applied.now()));
    });
}

RuleChange unset_keys(LiveRules& rules, const std::vector<SettingChoice>& choices,
                      const Author& from) {
    const bool of_tenant = std::ranges::all_of(
        choices, [](const SettingChoice& one) { return is_of_tenant(one.rule); });
    return change_of(rules, of_tenant, from, [&](StoredRules& next) -> std::optional<Refusal> {
        if (!remove_settings(next.keys, choices)) {
            return nothing_set(choices);
        }
        return std::nullopt;
    });
}

}  // namespace sluice
