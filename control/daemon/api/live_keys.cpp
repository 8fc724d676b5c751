#include "control/daemon/api/live_pages.hpp"

#include <fmt/format.h>

// The live keys of a rule, as the workers' tables have them.
namespace sluice {
namespace {

// {"key":…,"digest":…,"tier":1,"limit":"1",…}: of one key under one limit.
Json key_json(const ListedKey& key, const RuleSummary& rule) {
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
            {"left_s", seconds_of(key.left_ns)}};
}

}  // namespace

HttpResponse get_live_keys(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
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
    const std::variant<KeyPage, HttpResponse> read = read_tables(
        {view->generation, id, false, from->worker, from->position, page->most}, services);
    if (const auto* refusal = std::get_if<HttpResponse>(&read)) {
        return *refusal;
    }
    const auto& found = std::get<KeyPage>(read);
    Json keys = Json::array();
    for (const ListedKey& key : found.keys) {
        keys.push_back(key_json(key, *rule));
    }
    return json_response({{"rule", id},
                          {"generation", generation_text(view->generation)},
                          {"live", found.live},
                          {"keys", std::move(keys)},
                          {"next", found.ends ? Json() : Json(text_of(place_behind(found)))}});
}

}  // namespace sluice
