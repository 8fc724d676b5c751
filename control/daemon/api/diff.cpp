#include "control/daemon/api/change.hpp"
#include "control/daemon/api/owed_counter.hpp"
#include "control/daemon/rule_diff.hpp"
#include "lib/wire/codec.hpp"

#include <array>
#include <optional>

namespace sluice {
namespace {

constexpr auto kKindNames =
    std::to_array<std::string_view>({"added", "removed", "changed", "reset"});

Json settings_json(const std::vector<SettingDiff>& settings) {
    Json list = Json::array();
    for (const SettingDiff& setting : settings) {
        list.push_back({{"what", setting.what}, {"from", setting.from}, {"to", setting.to}});
    }
    return list;
}

Json limit_json(const LimitDiff& limit) {
    return {{"name", limit.name},
            {"change", kKindNames[static_cast<std::size_t>(limit.kind)]},
            {"from", limit.from},
            {"to", limit.to},
            {"because", limit.because}};
}

Json limits_json(const RuleDiff& rule, OwedCounter& owed) {
    Json list = Json::array();
    for (const LimitDiff& limit : rule.limits) {
        list.push_back(limit_json(limit));
        if (limit.kind == LimitDiff::Kind::Changed) {
            list.back()["owing"] = owed.count(rule.id, limit.name);
        }
    }
    return list;
}

Json changed_json(const std::vector<RuleDiff>& rules, OwedCounter& owed) {
    Json list = Json::array();
    for (const RuleDiff& rule : rules) {
        list.push_back({{"id", rule.id},
                        {"settings", settings_json(rule.settings)},
                        {"limits", limits_json(rule, owed)}});
    }
    return list;
}

Json services_json(const ServiceDiffs& services) {
    Json changed = Json::array();
    for (const RuleDiff& service : services.changed) {
        changed.push_back({{"id", service.id}, {"settings", settings_json(service.settings)}});
    }
    return {{"added", services.added},
            {"removed", services.removed},
            {"changed", std::move(changed)},
            {"reordered", services.reordered},
            {"unchanged", services.unchanged}};
}

}  // namespace

Json rules_changed_json(const SetDiff& diff) {
    Json list = Json::array();
    for (const RuleDiff& rule : diff.changed) {
        Json limits = Json::array();
        for (const LimitDiff& limit : rule.limits) {
            limits.push_back(limit_json(limit));
        }
        list.push_back({{"id", rule.id},
                        {"settings", settings_json(rule.settings)},
                        {"limits", std::move(limits)}});
    }
    return list;
}

HttpResponse differences(Compiled next, Services& services) {
    const std::shared_ptr<const RuleView> shown = services.rules.view();
    const RuleView& view = *shown;
    if (!next.rules) {
        return refused(does_not_compile(std::move(next.problems)));
    }
    const SetDiff diff = diff_of(view, *next.rules);
    OwedCounter owed{next.rules->set, view.generation, services};
    Json changed = changed_json(diff.changed, owed);
    return json_response({{"from", generation_text(view.generation)},
                          {"to", generation_text(generation_of(next.rules->set))},
                          {"added", diff.added},
                          {"removed", diff.removed},
                          {"changed", std::move(changed)},
                          {"owing_known", owed.is_known()},
                          {"reordered", diff.reordered},
                          {"unchanged", diff.unchanged},
                          {"services", services_json(diff.services)},
                          {"warnings", to_json(next.problems)}});
}

// Compiled as apply would, against what runs now; nothing changes.
HttpResponse post_diff(const HttpRequest& request, Services& services) {
    std::variant<RuleFile, HttpResponse> read = rule_file_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    std::optional<Compiled> next = services.rules.preview(std::get<RuleFile>(std::move(read)));
    if (!next) {
        return refused({Refusal::Kind::Superseded,
                        "newer rules came to be compared while these waited for others to be "
                        "compiled; these were not compiled",
                        {}});
    }
    return differences(*std::move(next), services);
}

}  // namespace sluice
