#include "control/daemon/key_settings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

namespace sluice {
namespace {

using nlohmann::json;
using What = KeySetting::What;

constexpr auto kWhatNames = std::to_array<std::string_view>({"numbers", "exempt", "banned"});

bool of_one_key(const KeySetting& a, const KeySetting& b) {
    return a.rule == b.rule && a.key == b.key && a.tier == b.tier;
}

// Whether `next` leaves nothing of `before`: a ban stands beside the others, exempt and numbers
// take each other's place.
bool replaces(const KeySetting& next, const KeySetting& before) {
    if (!of_one_key(next, before) || (next.what == What::Banned) != (before.what == What::Banned)) {
        return false;
    }
    return next.what != What::Numbers || before.what != What::Numbers || next.limit == before.limit;
}

// Whatever is there, of the right type or as if it were not.
std::string text_in(const json& object, const char* name) {
    return object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                             : std::string{};
}
template <typename T>
T number_in(const json& object, const char* name) {
    return object.contains(name) && object[name].is_number_integer() ? object[name].get<T>() : T{};
}

json setting_json(const KeySetting& setting) {
    return {
        {"rule", setting.rule},     {"key", setting.key},
        {"tier", setting.tier},     {"what", kWhatNames[static_cast<std::size_t>(setting.what)]},
        {"limit", setting.limit},   {"rate", setting.rate},
        {"burst", setting.burst},   {"count", setting.count},
        {"until", setting.until},   {"reason", setting.reason},
        {"set_at", setting.set_at}, {"set_by", setting.set_by}};
}

void add_quoted(std::string_view word, std::string& text) {
    const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
        return c >= ' ' && c <= '~' && c != '"' && c != '\\';
    });
    if (plain) {
        text.append(1, '"').append(word).append(1, '"');
    } else {
        text += json(word).dump(-1, ' ', false, json::error_handler_t::replace);
    }
}

// Members in the order that a JSON document has them in.
void add_setting_text(const KeySetting& setting, std::string& text) {
    const auto add_word = [&text](std::string_view name, std::string_view word) {
        text += name;
        add_quoted(word, text);
    };
    const auto add_number = [&text](std::string_view name, auto number) {
        text.append(name).append(std::to_string(number));
    };
    add_word(R"({"burst":)", setting.burst);
    add_word(R"(,"count":)", setting.count);
    add_word(R"(,"key":)", setting.key);
    add_word(R"(,"limit":)", setting.limit);
    add_word(R"(,"rate":)", setting.rate);
    add_word(R"(,"reason":)", setting.reason);
    add_word(R"(,"rule":)", setting.rule);
    add_number(R"(,"set_at":)", setting.set_at);
    add_number(R"(,"set_by":)", setting.set_by);
    add_number(R"(,"tier":)", setting.tier);
    add_number(R"(,"until":)", setting.until);
    add_word(R"(,"what":)", kWhatNames[static_cast<std::size_t>(setting.what)]);
    text += '}';
}

}  // namespace

bool put_settings(KeySettings& settings, const KeySettings& next) {
    using Key = std::tuple<std::string_view, std::string_view, std::size_t>;
    std::multimap<Key, const KeySetting*> of_key;
    for (const KeySetting& one : next) {
        of_key.emplace(Key{one.rule, one.key, one.tier}, &one);
    }
    std::erase_if(settings, [&](const KeySetting& before) {
        const auto [first, last] = of_key.equal_range(Key{before.rule, before.key, before.tier});
        return std::any_of(first, last,
                           [&](const auto& one) { return replaces(*one.second, before); });
    });
    if (settings.size() + next.size() > kMaxKeySettings) {
        return false;
    }
    settings.insert(settings.end(), next.begin(), next.end());
    return true;
}

bool remove_settings(KeySettings& settings, const SettingChoice& choice) {
    return std::erase_if(settings, [&](const KeySetting& one) {
               return one.rule == choice.rule && one.key == choice.key && one.tier == choice.tier &&
                      (one.what == What::Banned) == choice.bans &&
                      (choice.limit.empty() || choice.limit == one.limit);
           }) != 0;
}

bool has_ended(const KeySetting& setting, std::int64_t now) {
    return setting.until != 0 && setting.until <= now;
}

bool any_ended(const KeySettings& settings, std::int64_t now) {
    return std::any_of(settings.begin(), settings.end(),
                       [now](const KeySetting& one) { return has_ended(one, now); });
}

void forget_ended(KeySettings& settings, std::int64_t now) {
    std::erase_if(settings, [now](const KeySetting& one) { return has_ended(one, now); });
}

void forget_other_rules(KeySettings& settings, const std::vector<RuleSummary>& rules) {
    std::erase_if(settings, [&](const KeySetting& one) {
        return std::none_of(rules.begin(), rules.end(),
                            [&](const RuleSummary& rule) { return rule.id == one.rule; });
    });
}

json settings_to_json(const KeySettings& settings) {
    json list = json::array();
    for (const KeySetting& setting : settings) {
        list.push_back(setting_json(setting));
    }
    return list;
}

void add_settings_text(const KeySettings& settings, std::string& text) {
    text += '[';
    for (const KeySetting& setting : settings) {
        if (&setting != settings.data()) {
            text += ',';
        }
        add_setting_text(setting, text);
    }
    text += ']';
}

KeySettings settings_from_json(const json& list) {
    KeySettings settings;
    for (const json& one : list) {
        if (!one.is_object() || settings.size() == kMaxKeySettings) {
            continue;
        }
        const std::string what = text_in(one, "what");
        const auto found = std::find(kWhatNames.begin(), kWhatNames.end(), what);
        if (found != kWhatNames.end()) {
            settings.push_back({.rule = text_in(one, "rule"),
                                .key = text_in(one, "key"),
                                .tier = number_in<std::size_t>(one, "tier"),
                                .what = static_cast<What>(found - kWhatNames.begin()),
                                .limit = text_in(one, "limit"),
                                .rate = text_in(one, "rate"),
                                .burst = text_in(one, "burst"),
                                .count = text_in(one, "count"),
                                .until = number_in<std::int64_t>(one, "until"),
                                .reason = text_in(one, "reason"),
                                .set_at = number_in<std::int64_t>(one, "set_at"),
                                .set_by = number_in<std::uint32_t>(one, "set_by")});
        }
    }
    return settings;
}

std::string text_of(const KeySetting& setting) {
    if (setting.what != What::Numbers) {
        return std::string{kWhatNames[static_cast<std::size_t>(setting.what)]};
    }
    std::string text = setting.limit + ":";
    text += setting.rate.empty() ? "" : " rate " + setting.rate;
    text += setting.burst.empty() ? "" : " burst " + setting.burst;
    return text + (setting.count.empty() ? "" : " count " + setting.count);
}

}  // namespace sluice
