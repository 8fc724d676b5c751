#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/keys/key_setting.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sluice {

// Operators' settings of single keys, as sluiced keeps them: for a key at most one set of numbers a
// limit, or `exempt`; and a ban.

// Each replaces an earlier setting of the same kind, and is of another key, or of another limit.
// Settings of tenants that sluice.yaml has no more count for no tenant, and where there is no room
// they go.
// `aside`: so many more are kept for rules that come back.
// False: they would be more than kMaxKeySettings, or those of a tenant more than it may have.
[[nodiscard]] bool put_settings(KeySettings& settings, const KeySettings& next,
                                std::size_t aside = 0);

// The choice of a key's settings: its ban, or the others, all or those of one limit.
struct SettingChoice {
    std::string rule;
    std::string key;
    std::size_t tier = 1;
    bool bans = false;
    std::string limit{};  // empty: all
};
// Removes those of all choices, in one pass. False: there were none.
[[nodiscard]] bool remove_settings(KeySettings& settings,
                                   const std::vector<SettingChoice>& choices);

// True if it, or one of them, has ended by `now` (UTC, seconds).
[[nodiscard]] bool has_ended(const KeySetting& setting, std::int64_t now);
[[nodiscard]] bool any_ended(const KeySettings& settings, std::int64_t now);
// Forgets what has ended by `now` (UTC, seconds).
void forget_ended(KeySettings& settings, std::int64_t now);
// Takes out what is of none of the rules, and returns it. Settings of tenants in `aside` stay:
// their rules come back.
KeySettings take_other_rules(KeySettings& settings, const std::vector<RuleSummary>& rules,
                             const std::map<std::string, std::string>& aside = {});

[[nodiscard]] nlohmann::json settings_to_json(const KeySettings& settings);
// Adds the same as compact text, byte for byte what that is dumped as.
void add_settings_text(const KeySettings& settings, std::string& text);
// A number for all that they say: another one for other settings.
[[nodiscard]] std::uint64_t sum_of_settings(const KeySettings& settings);
// Entries that are no setting are left out.
[[nodiscard]] KeySettings settings_from_json(const nlohmann::json& list);

// For people: "numbers of 1: rate 5/s", "exempt", "banned".
[[nodiscard]] std::string text_of(const KeySetting& setting);

}  // namespace sluice
