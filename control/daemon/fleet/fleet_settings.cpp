#include "control/daemon/fleet/fleet_settings.hpp"

#include "control/hex_text.hpp"
#include "control/random_secret.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace sluice {
namespace {

using KeyRecord = nlohmann::json;
using What = KeySetting::What;

constexpr std::size_t kMostRecord = 8'192;  // bytes
constexpr std::size_t kMostKeyText = 2'048;
constexpr std::size_t kMostSettingWord = 256;
constexpr std::size_t kMostTier = 64;
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 62;
constexpr std::int64_t kLastInstant = 253'402'300'799;  // of the year 9999
constexpr auto kActNames = std::to_array<std::string_view>({"unban", "reset", "forgive", "grant"});

Error no_setting(const char* which) {
    return {Errc::BadSyntax, fmt::format("etcd's record of a {} cannot be read", which)};
}

// An object, or null.
KeyRecord record_from(std::string_view text) {
    KeyRecord record =
        text.size() > kMostRecord ? KeyRecord() : KeyRecord::parse(text, nullptr, false);
    return record.is_object() ? record : KeyRecord();
}

std::uint64_t number_of(const KeyRecord& record, const char* name) {
    const auto found = record.find(name);
    return found != record.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string word_of(const KeyRecord& record, const char* name) {
    const auto found = record.find(name);
    return found != record.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

bool is_number(std::uint64_t number) {
    return number != 0 && number <= kMostNumber;
}

bool is_word(const std::string& word, std::size_t most = kMostSettingWord) {
    return word.size() <= most && !has_control(word);
}

bool is_sound(const KeySetting& one) {
    const bool numbers = !one.rate.empty() || !one.burst.empty() || !one.count.empty();
    const bool are_words = std::ranges::all_of(
        std::to_array({&one.rule, &one.limit, &one.rate, &one.burst, &one.count, &one.reason}),
        [](const std::string* word) { return is_word(*word); });
    return are_words && is_word(one.key, kMostKeyText) && is_word(one.of, kMostKeyText) &&
           !one.rule.empty() && one.tier != 0 && one.tier <= kMostTier && one.until >= 0 &&
           one.until <= kLastInstant && (one.what == What::Numbers) == numbers &&
           numbers == !one.limit.empty();
}

std::string dumped_record(const KeyRecord& record) {
    return record.dump(-1, ' ', false, KeyRecord::error_handler_t::replace);
}

}  // namespace

bool is_one_place(const KeySetting& a, const KeySetting& b) {
    return a.rule == b.rule && a.key == b.key && a.tier == b.tier && a.what == b.what &&
           a.limit == b.limit;
}

const FleetSetting* find_place(const FleetSettings& in, const KeySetting& setting) {
    const auto found = std::ranges::find_if(
        in.set, [&](const FleetSetting& other) { return is_one_place(setting, other.setting); });
    return found == in.set.end() ? nullptr : &*found;
}

bool says_same(const KeySetting& a, const KeySetting& b) {
    return is_one_place(a, b) && a.rate == b.rate && a.burst == b.burst && a.count == b.count &&
           a.reason == b.reason;
}

bool is_set(const KeySettings& settings, const KeySetting& setting) {
    return std::ranges::any_of(settings,
                               [&](const KeySetting& here) { return says_same(here, setting); });
}

SettingChoice choice_of(const KeySetting& setting) {
    return {.rule = setting.rule,
            .key = setting.key,
            .tier = setting.tier,
            .bans = setting.what == What::Banned,
            .limit = setting.limit};
}

std::string key_of_setting(const FleetKeys& keys, const KeySetting& setting) {
    constexpr std::size_t kShown = 16;  // bytes
    const Sha256Digest digest =
        digest_of(KeyRecord{setting.rule, setting.key, setting.tier, static_cast<int>(setting.what),
                            setting.limit}
                      .dump(-1, ' ', false, KeyRecord::error_handler_t::replace));
    return keys.setting_keys() + hex_text(std::as_bytes(std::span{digest}.first(kShown)));
}

std::string key_of_steps(const FleetKeys& keys) {
    return keys.settings() + "under_way";
}

bool FleetSettingsView::hides(const FleetKeys& keys, const KeySetting& setting) const {
    return unread.contains(key_of_setting(keys, setting)) ||
           std::ranges::any_of(unfinished.set, [&](const FleetSetting& one) {
               return is_one_place(one.setting, setting);
           });
}

std::string text_of(const FleetSetting& setting) {
    KeyRecord record = settings_to_json({setting.setting}).front();
    record["number"] = setting.number;
    record["by"] = setting.by;
    return dumped_record(record);
}

Result<FleetSetting> fleet_setting_from(std::string_view text) {
    const KeyRecord record = record_from(text);
    KeySettings read = settings_from_json(KeyRecord::array({record}));
    if (read.size() != 1 || !is_sound(read.front())) {
        return no_setting("key's setting");
    }
    FleetSetting setting{.number = number_of(record, "number"),
                         .by = word_of(record, "by"),
                         .setting = std::move(read.front())};
    return is_number(setting.number) && is_word(setting.by) ? Result{std::move(setting)}
                                                            : no_setting("key's setting");
}

std::string text_of(const FleetAct& act) {
    return dumped_record({{"number", act.number},
                          {"by", act.by},
                          {"action", act.action},
                          {"rule", act.rule},
                          {"key", act.key},
                          {"tier", act.tier},
                          {"limit", act.limit},
                          {"units", act.units}});
}

Result<FleetAct> fleet_act_from(std::string_view text) {
    const KeyRecord record = record_from(text);
    if (record.is_null()) {
        return no_setting("key's act");
    }
    FleetAct act{.number = number_of(record, "number"),
                 .by = word_of(record, "by"),
                 .action = word_of(record, "action"),
                 .rule = word_of(record, "rule"),
                 .key = word_of(record, "key"),
                 .tier = number_of(record, "tier"),
                 .limit = word_of(record, "limit"),
                 .units = number_of(record, "units")};
    const bool is_known = std::ranges::find(kActNames, act.action) != kActNames.end();
    const bool is_good = is_known && is_number(act.number) && is_word(act.by) &&
                         is_word(act.rule) && !act.rule.empty() && is_word(act.limit) &&
                         is_word(act.key, kMostKeyText) && act.tier != 0 && act.tier <= kMostTier &&
                         (act.action == "grant") == (act.units != 0);
    return is_good ? Result{std::move(act)} : no_setting("key's act");
}

std::string text_of_number(const FleetSettings& settings) {
    return dumped_record({{"number", settings.number}, {"by", settings.by}});
}

Result<FleetSettings> fleet_number_from(std::string_view text) {
    const KeyRecord record = record_from(text);
    if (record.is_null()) {
        return no_setting("change of keys' settings");
    }
    FleetSettings settings{.number = number_of(record, "number"), .by = word_of(record, "by")};
    return is_number(settings.number) && is_word(settings.by)
               ? Result{std::move(settings)}
               : no_setting("change of keys' settings");
}

Result<FleetSettingsView> read_fleet_settings(FleetStore& store) {
    const FleetKeys& keys = store.keys();
    const auto all = [](const std::string& prefix, std::size_t most) {
        return EtcdGet{.key = prefix, .end = end_of_prefix(prefix), .most = most};
    };
    const Result<EtcdOutcome> outcome =
        store.etcd().commit({.then = {EtcdGet{.key = keys.setting_number()},
                                      all(keys.setting_keys(), 2 * kMostFleetSettings),
                                      all(keys.setting_acts(), 2 * kMostFleetActs),
                                      EtcdGet{.key = key_of_steps(keys)}}});
    if (!outcome) {
        return outcome.error();
    }
    if (outcome->read.size() != 4) {
        return Error{Errc::BadSyntax, "etcd's answer is none: not what was asked for"};
    }
    FleetSettingsView view;
    if (!outcome->read[0].empty()) {
        const EtcdKey& number = outcome->read[0].front();
        Result<FleetSettings> latest = fleet_number_from(number.value);
        if (!latest) {
            return latest.error();
        }
        view.settings = *std::move(latest);
        view.modified = number.modified;
    }
    view.stepped = outcome->read[3].empty() ? 0 : outcome->read[3].front().modified;
    const auto add = [&view](auto FleetSettings::* list, const EtcdKey& key, auto read) {
        if (!read) {
            view.unread.insert(key.key);
        } else if (read->number > view.settings.number) {
            (view.unfinished.*list).push_back(*std::move(read));
        } else {
            (view.settings.*list).push_back(*std::move(read));
        }
    };
    for (const EtcdKey& key : outcome->read[1]) {
        add(&FleetSettings::set, key, fleet_setting_from(key.value));
    }
    for (const EtcdKey& key : outcome->read[2]) {
        add(&FleetSettings::acts, key, fleet_act_from(key.value));
    }
    std::ranges::stable_sort(view.settings.acts, {}, &FleetAct::number);
    return view;
}

}  // namespace sluice
