#include "control/daemon/key_settings.hpp"

#include "control/daemon/tenant_compile.hpp"

#include "control/daemon/whole_number.hpp"
#include "lib/bucket/hash/siphash.hpp"
#include "lib/rules/tenant_name.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace sluice {
namespace {

using nlohmann::json;
using What = KeySetting::What;
using OneKey = std::tuple<std::string_view, std::string_view, std::size_t>;  // rule, key, tier

constexpr auto kWhatNames = std::to_array<std::string_view>({"numbers", "exempt", "banned"});

bool of_one_key(const KeySetting& a, const KeySetting& b) {
    return a.rule == b.rule && a.key == b.key && a.tier == b.tier;
}

// True if `next` leaves nothing of `before`: a ban stands beside the others, exempt and numbers
// take each other's place.
bool replaces(const KeySetting& next, const KeySetting& before) {
    if (!of_one_key(next, before) || (next.what == What::Banned) != (before.what == What::Banned)) {
        return false;
    }
    return next.what != What::Numbers || before.what != What::Numbers || next.limit == before.limit;
}

// A tenant that sluice.yaml has no more; should it come back, so do its settings.
bool is_of_gone_tenant(const KeySetting& setting) {
    const std::string_view tenant = tenant_of(setting.rule);
    return !tenant.empty() && find_tenant(std::string{tenant}) == nullptr;
}

// True if no tenant that `next` is of has more settings than it may, alone and with all others.
bool fit_tenants(const KeySettings& settings, const KeySettings& next) {
    std::map<std::string_view, std::size_t> of_tenant;
    for (const KeySetting& one : next) {
        of_tenant[tenant_of(one.rule)] = 0;
    }
    of_tenant.erase("");
    if (of_tenant.empty()) {
        return true;
    }
    std::size_t of_all = 0;
    for (const KeySetting& one : settings) {
        const std::string_view tenant = tenant_of(one.rule);
        of_all += tenant.empty() || is_of_gone_tenant(one) ? 0 : 1;
        if (const auto found = of_tenant.find(tenant); found != of_tenant.end()) {
            ++found->second;
        }
    }
    // Settings for each, as many as all of them can have.
    const std::size_t share =
        std::min(kMaxTenantKeySettings,
                 kMaxTenantsKeySettings / std::max(tenant_options().size(), std::size_t{1}));
    return of_all <= kMaxTenantsKeySettings &&
           std::ranges::all_of(of_tenant, [&](const auto& one) { return one.second <= share; });
}

// Reads any member, of the right type or as if it were not there.
std::string text_in(const json& object, const char* name) {
    return object.contains(name) && object[name].is_string() ? object[name].get<std::string>()
                                                             : std::string{};
}
template <typename T>
T number_in(const json& object, const char* name) {
    return object.contains(name) ? whole_number<T>(object[name]).value_or(T{}) : T{};
}

// A member that says nothing is left out: of ten thousand settings it would be most of the text.
json kept_json(const KeySetting& setting) {
    json object{{"rule", setting.rule},
                {"key", setting.key},
                {"tier", setting.tier},
                {"what", kWhatNames[static_cast<std::size_t>(setting.what)]}};
    const auto add = [&object](const char* name, const auto& value) {
        if (value != std::decay_t<decltype(value)>{}) {
            object[name] = value;
        }
    };
    add("limit", setting.limit);
    add("rate", setting.rate);
    add("burst", setting.burst);
    add("count", setting.count);
    add("until", setting.until);
    add("reason", setting.reason);
    add("of", setting.of);
    add("set_at", setting.set_at);
    add("set_by", setting.set_by);
    return object;
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
    const std::size_t begin = text.size();
    const auto add_word = [&text](std::string_view name, std::string_view word) {
        if (!word.empty()) {
            text += name;
            add_quoted(word, text);
        }
    };
    const auto add_number = [&text](std::string_view name, auto number) {
        if (number != 0) {
            text.append(name).append(std::to_string(number));
        }
    };
    add_word(R"(,"burst":)", setting.burst);
    add_word(R"(,"count":)", setting.count);
    text += R"(,"key":)";
    add_quoted(setting.key, text);
    add_word(R"(,"limit":)", setting.limit);
    add_word(R"(,"of":)", setting.of);
    add_word(R"(,"rate":)", setting.rate);
    add_word(R"(,"reason":)", setting.reason);
    text += R"(,"rule":)";
    add_quoted(setting.rule, text);
    add_number(R"(,"set_at":)", setting.set_at);
    add_number(R"(,"set_by":)", setting.set_by);
    text.append(R"(,"tier":)").append(std::to_string(setting.tier));
    add_number(R"(,"until":)", setting.until);
    add_word(R"(,"what":)", kWhatNames[static_cast<std::size_t>(setting.what)]);
    text += '}';
    text[begin] = '{';
}

// The fields of all of them, in a row that no others give.
std::vector<std::byte> bytes_of(const KeySettings& settings) {
    std::vector<std::byte> bytes;
    const auto add_number = [&bytes](std::uint64_t number) {
        const ByteView eight = std::as_bytes(std::span{&number, 1});
        bytes.insert(bytes.end(), eight.begin(), eight.end());
    };
    for (const KeySetting& one : settings) {
        for (const std::string* word : {&one.rule, &one.key, &one.limit, &one.rate, &one.burst,
                                        &one.count, &one.reason, &one.of}) {
            add_number(word->size());
            const ByteView text = std::as_bytes(std::span{*word});
            bytes.insert(bytes.end(), text.begin(), text.end());
        }
        add_number(one.tier);
        add_number(static_cast<std::uint64_t>(one.what));
        add_number(static_cast<std::uint64_t>(one.until));
        add_number(static_cast<std::uint64_t>(one.set_at));
        add_number(one.set_by);
    }
    return bytes;
}

}  // namespace

bool put_settings(KeySettings& settings, const KeySettings& next, std::size_t aside) {
    std::multimap<OneKey, const KeySetting*> of_key;
    for (const KeySetting& one : next) {
        of_key.emplace(OneKey{one.rule, one.key, one.tier}, &one);
    }
    std::erase_if(settings, [&](const KeySetting& before) {
        const auto [first, last] = of_key.equal_range(OneKey{before.rule, before.key, before.tier});
        return std::any_of(first, last,
                           [&](const auto& one) { return replaces(*one.second, before); });
    });
    if (settings.size() + next.size() + aside > kMaxKeySettings) {
        std::erase_if(settings, is_of_gone_tenant);
    }
    if (settings.size() + next.size() + aside > kMaxKeySettings) {
        return false;
    }
    settings.insert(settings.end(), next.begin(), next.end());
    if (fit_tenants(settings, next)) {
        return true;
    }
    settings.resize(settings.size() - next.size());
    return false;
}

bool remove_settings(KeySettings& settings, const std::vector<SettingChoice>& choices) {
    std::multimap<OneKey, const SettingChoice*> of_key;
    for (const SettingChoice& choice : choices) {
        of_key.emplace(OneKey{choice.rule, choice.key, choice.tier}, &choice);
    }
    return std::erase_if(settings, [&](const KeySetting& one) {
               const auto [first, last] = of_key.equal_range(OneKey{one.rule, one.key, one.tier});
               return std::any_of(first, last, [&one](const auto& of) {
                   const SettingChoice& choice = *of.second;
                   return (one.what == What::Banned) == choice.bans &&
                          (choice.limit.empty() || choice.limit == one.limit);
               });
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

KeySettings take_other_rules(KeySettings& settings, const std::vector<RuleSummary>& rules,
                             const std::map<std::string, std::string>& aside) {
    std::set<std::string_view> ids;
    for (const RuleSummary& rule : rules) {
        ids.insert(rule.id);
    }
    const auto others =
        std::stable_partition(settings.begin(), settings.end(), [&](const KeySetting& one) {
            return ids.contains(one.rule) || aside.contains(std::string{tenant_of(one.rule)});
        });
    KeySettings taken{std::make_move_iterator(others), std::make_move_iterator(settings.end())};
    settings.erase(others, settings.end());
    return taken;
}

json settings_to_json(const KeySettings& settings) {
    json list = json::array();
    for (const KeySetting& setting : settings) {
        list.push_back(kept_json(setting));
    }
    return list;
}

std::uint64_t sum_of_settings(const KeySettings& settings) {
    return siphash_1_3(HashSecret{}, bytes_of(settings));
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
                                .of = text_in(one, "of"),
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
