#include "control/daemon/api/change.hpp"
#include "control/daemon/api/key_words.hpp"
#include "control/daemon/api/live_pages.hpp"
#include "control/daemon/api/tenant_view.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

// The live keys of a rule, as the workers' tables have them.
namespace sluice {
namespace {

// Keys of a rule that operators have banned.
class BannedByName {
public:
    BannedByName(const RuleView& view, const std::string& rule) {
        for (const KeySetting& one : view.keys) {
            if (one.rule == rule && one.what == KeySetting::What::Banned && !has_ended(one)) {
                keys_.emplace(one.tier, one.key);
            }
        }
    }
    [[nodiscard]] bool has(const ListedKey& key) const {
        return keys_.contains({key.key + std::size_t{1}, key.text});
    }

private:
    std::set<std::pair<std::size_t, std::string>> keys_;
};

// The source of its ban, as `bans` calls its source, or that its network is banned; null: nobody,
// or the key is not known.
Json banned_json(const ListedKey& key, const BannedByName& by_operators) {
    switch (key.ban) {
        case KeyBan::Own:
            return by_operators.has(key) ? "operator" : "policy";
        case KeyBan::Network:
            return "network";
        case KeyBan::Box:
            return "penalty_box";
        default:
            return nullptr;
    }
}

// {"key":…,"digest":…,"tier":1,"limit":"1",…}: of one key under one limit.
Json key_json(const ListedKey& key, const RuleSummary& rule, const BannedByName& by_operators) {
    const std::string limit = key.limit < rule.limits.size() ? rule.limits[key.limit].name : "";
    return {{"key", key.named && key.level == 0 ? Json(key.text) : Json()},
            {"digest", fmt::format("{:014x}", key.digest)},
            {"tier", key.key + 1},
            {"limit", limit},
            {"lcore", key.carried ? Json() : Json(key.lcore)},
            {"carried", key.carried},
            {"shared", key.shared},
            {"level", key.level},
            {"remaining", key.own_numbers ? Json() : Json(key.remaining)},
            {"most", key.own_numbers ? Json() : Json(key.most)},
            {"left_s", seconds_of(key.left_ns)},
            {"banned", banned_json(key, by_operators)}};
}

}  // namespace

HttpResponse get_live_keys(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const std::string id = argument(request, "rule", "");
    const RuleSummary* rule = find_rule(view->rules, id);
    const std::optional<PageWords> page = read_page(request);
    const std::optional<TablePlace> from =
        page ? read_place(page->after.empty() ? "0:0" : page->after) : std::nullopt;
    if (id.empty() || !from) {
        return bad_page("`rule` is the id of a rule");
    }
    if (rule == nullptr) {
        return no_such_rule(id);
    }
    if (rule->mode == Mode::Off) {
        return rule_is_off();
    }
    const std::variant<KeyPage, HttpResponse> read = read_tables(
        {view->generation, id, false, from->worker, from->position, page->most}, services);
    if (const auto* refusal = std::get_if<HttpResponse>(&read)) {
        return *refusal;
    }
    const auto& found = std::get<KeyPage>(read);
    const BannedByName by_operators{*view, id};
    Json keys = Json::array();
    for (const ListedKey& key : found.keys) {
        keys.push_back(key_json(key, *rule, by_operators));
    }
    return json_response({{"rule", id},
                          {"generation", generation_text(view->generation)},
                          {"live", found.live},
                          {"keys", std::move(keys)},
                          {"next", found.ends ? Json() : Json(text_of(place_behind(found)))}});
}

}  // namespace sluice
