#include "control/daemon/api/ban_rows.hpp"

#include "control/active_json.hpp"
#include "control/daemon/api/banned_networks.hpp"
#include "lib/policy/overrides/setting_rows.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <chrono>
#include <span>

namespace sluice {
namespace {

void set_end(Json& ban, std::int64_t until) {
    ban["until"] = until == 0 ? Json() : Json(utc_text(until));
    ban["left_s"] = until == 0 ? Json() : Json(std::max<std::int64_t>(until - utc_seconds(), 0));
}

}  // namespace

std::optional<BanSource> ban_source_named(std::string_view name) {
    const auto* found = std::find(std::begin(kBanSourceNames), std::end(kBanSourceNames), name);
    return found == std::end(kBanSourceNames)
               ? std::nullopt
               : std::optional{static_cast<BanSource>(found - std::begin(kBanSourceNames))};
}

std::int64_t utc_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::int64_t end_of(const BannedKey& ban) {
    return ban.until == kForever ? 0 : std::chrono::ceil<std::chrono::seconds>(ban.until).count();
}

std::string text_of_banned(const BannedKey& ban) {
    return text_of_key(std::span{ban.bytes}, [](std::uint64_t) { return std::string{"?"}; });
}

bool is_ban_of(const KeySetting& setting, const RuleSummary& rule) {
    return setting.rule == rule.id && setting.what == KeySetting::What::Banned &&
           !has_ended(setting) && is_of_keys(setting, rule.keys, rule.text_names);
}

Json ban_json(BanSource source, const RuleSummary& rule, const std::string& key, std::size_t tier) {
    return {{"rule", rule.id},
            {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
            {"inactive", inactive_json(rule, utc_now())},
            {"key", key},
            {"tier", tier},
            {"applies_to", kBanScopeNames[rule.bans_sources ? 1 : 0]},
            {"source", kBanSourceNames[static_cast<std::size_t>(source)]},
            {"left_s", nullptr},
            {"until", nullptr},
            {"reason", ""}};
}

Json set_ban_json(const RuleSummary& rule, const KeySetting& setting) {
    Json ban = ban_json(BanSource::Operator, rule, setting.key, setting.tier);
    set_end(ban, setting.until);
    ban["reason"] = setting.reason;
    ban["by"] = setting.set_by;
    return ban;
}

Json policy_ban_json(const RuleSummary& rule, const BannedKey& ban, const std::string& key) {
    Json json = ban_json(BanSource::Policy, rule, key, ban.key + std::size_t{1});
    set_end(json, end_of(ban));
    json["reason"] = reason_of(ban);
    return json;
}

}  // namespace sluice
