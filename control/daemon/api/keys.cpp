#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/setting_words.hpp"

#include "control/daemon/api/tenant_view.hpp"
#include "lib/base/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

// Numbers of many keys of a rule: set in one call, and listed page by page.
namespace sluice {
namespace {

constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kUsualPage = 100;
constexpr std::size_t kLongestPage = 1'000;

struct ReadKeys {
    std::vector<FoundKey> found;
    KeySettings settings;
};

// The key that an item means; an HttpResponse says what is wrong with it.
Found find_item(const Json& item, const std::string& rule, const RuleView& view) {
    KeyWords words{.rule = rule};
    if (!item.is_object() || !item.contains("key") || !read_text(item, "key", words.key) ||
        !read_text(item, "limit", words.limit) || !may_name_tier(item)) {
        return problem_response(422, "nothing was set",
                                R"(it is {"key":"part|part","rate":"5/s"}, with `burst`, `count`, )"
                                "`for`, `reason`, `limit` and `tier` where they are wanted");
    }
    const std::string unknown = unknown_member(
        item, {"key", "limit", "tier", "rate", "burst", "count", "for", "reason", "exempt"});
    if (!unknown.empty()) {
        return problem_response(422, "nothing was set", unknown);
    }
    words.tier = item.contains("tier") ? item["tier"].get<std::size_t>() : 0;
    return find_key(words, view);
}

std::string detail_of(const HttpResponse& problem) {
    const Json document = Json::parse(problem.body, nullptr, false);
    return document.is_object() ? document.value("detail", "") : "";
}

HttpResponse bad_item(std::size_t number, int status, const std::string& why) {
    return problem_response(status, "nothing was set", fmt::format("item {}: {}", number, why));
}

// All that is to be set, or the answer that says which item is wrong.
std::variant<ReadKeys, HttpResponse> read_items(const Json& items, const std::string& rule,
                                                const RuleView& view) {
    ReadKeys read;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Found found = find_item(items[i], rule, view);
        if (const auto* refusal = std::get_if<HttpResponse>(&found)) {
            return bad_item(i + 1, refusal->status, detail_of(*refusal));
        }
        const auto& key = std::get<FoundKey>(found);
        Result<KeySetting> setting = read_setting("set", items[i], key);
        if (!setting) {
            return bad_item(i + 1, 422, setting.error().what);
        }
        const auto same = [&](const KeySetting& one) {
            return one.key == setting->key && one.tier == setting->tier &&
                   one.limit == setting->limit;
        };
        if (std::any_of(read.settings.begin(), read.settings.end(), same)) {
            return bad_item(i + 1, 422, "the key " + setting->key + " is there twice");
        }
        read.found.push_back(key);
        read.settings.push_back(*std::move(setting));
    }
    return read;
}

void record_each(const KeySettings& settings, const RuleChange& change, const HttpRequest& request,
                 Services& services) {
    // A tenant's calls are few by their number: each is a line.
    if (!request.tenant.empty() && settings.size() > 1) {
        record(services, request,
               fmt::format("key set {}: {} keys", settings.front().rule, settings.size()), change);
        return;
    }
    for (const KeySetting& setting : settings) {
        record(
            services, request,
            fmt::format("key set {} {}: {}", setting.rule, setting.key, text_with_reason(setting)),
            change);
    }
}

HttpResponse set_items(ReadKeys items, const RuleSummary& rule, const HttpRequest& request,
                       Services& services) {
    const RuleChange change = services.rules.set_keys(items.settings, author_of(request));
    record_each(items.settings, change, request, services);
    if (change.refusal) {
        note_refused_set(services, rule);
        return refused_setting(*change.refusal);
    }
    for (const FoundKey& key : items.found) {
        look_at(key, change, services);
    }
    return json_response({{"rule", rule.id},
                          {"set", items.settings.size()},
                          {"generation", generation_text(change.after)}});
}

auto place_of(const KeySetting& setting) {
    return std::tie(setting.tier, setting.key, setting.what, setting.limit);
}

// The end of a page: after all that is set for this key.
std::string cursor_of(const KeySetting& setting) {
    return fmt::format("{}:{}", setting.tier, setting.key);
}

// The settings of a rule that have not ended, from behind the cursor on, in order.
KeySettings settings_behind(const RuleView& view, const std::string& rule, std::size_t tier,
                            const std::string& key) {
    KeySettings settings;
    for (const KeySetting& one : view.keys) {
        if (one.rule == rule && !has_ended(one) &&
            std::tie(one.tier, one.key) > std::tie(tier, key)) {
            settings.push_back(one);
        }
    }
    std::sort(settings.begin(), settings.end(),
              [](const KeySetting& a, const KeySetting& b) { return place_of(a) < place_of(b); });
    return settings;
}

Json page_json(const RuleSummary& rule, const KeySettings& settings, std::size_t most) {
    Json keys = Json::array();
    std::size_t i = 0;
    for (; i < settings.size(); ++i) {
        const bool next_key = i != 0 && cursor_of(settings[i]) != cursor_of(settings[i - 1]);
        if (i >= most && next_key) {
            break;
        }
        keys.push_back(setting_json(settings[i]));
    }
    return {{"rule", rule.id},
            {"dynamic", rule.dynamic ? Json(text_of(*rule.dynamic)) : Json()},
            {"keys", std::move(keys)},
            {"next", i == settings.size() ? Json() : Json(cursor_of(settings[i - 1]))}};
}

}  // namespace

HttpResponse post_keys(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    if (!body.is_object() || !body.contains("keys") || !body["keys"].is_array() ||
        body["keys"].empty() || body["keys"].size() > kMostAtOnce) {
        return bad_request(
            fmt::format(R"(the body is {{"keys":[{{"key":"part|part","rate":"5/s"}}]}}, )"
                        "with 1 to {} keys",
                        kMostAtOnce));
    }
    if (auto refusal = refuse_unknown(body, {"keys"})) {
        return *std::move(refusal);
    }
    const std::string id = rule_in(request, "/keys");
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const RuleSummary* rule = find_rule(view->rules, id);
    if (rule == nullptr) {
        return no_such_rule(id);
    }
    std::variant<ReadKeys, HttpResponse> read = read_items(body["keys"], id, *view);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        note_refused_set(services, *rule);
        return std::move(*refusal);
    }
    return set_items(std::get<ReadKeys>(std::move(read)), *rule, request, services);
}

HttpResponse get_keys(const HttpRequest& request, Services& services) {
    const std::string id = rule_in(request, "/keys");
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const RuleSummary* rule = find_rule(view->rules, id);
    if (rule == nullptr) {
        return no_such_rule(id);
    }
    const std::string after = argument(request, "after", "0:");
    const std::size_t colon = after.find(':');
    const auto tier = whole_number(std::string_view{after}.substr(0, colon));
    const std::size_t most =
        whole_number(argument(request, "most", std::to_string(kUsualPage))).value_or(0);
    if (most == 0 || most > kLongestPage || colon == std::string::npos || !tier) {
        return bad_request(
            fmt::format("`most` is a number from 1 to {}, `after` what `next` "
                        "of the page before says",
                        kLongestPage));
    }
    return json_response(
        page_json(*rule, settings_behind(*view, id, *tier, after.substr(colon + 1)), most));
}

}  // namespace sluice
