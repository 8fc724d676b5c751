#include "control/daemon/api/change.hpp"

#include <algorithm>

namespace sluice {
namespace {

Json count_json(std::size_t on) {
    return on == StoredRules::kUnknown ? Json() : Json(on);
}

std::size_t rules_on(const RuleView& view) {
    return static_cast<std::size_t>(
        std::count_if(view.rules.begin(), view.rules.end(),
                      [](const RuleSummary& rule) { return rule.mode != Mode::Off; }));
}

}  // namespace

// The set in force, and those before it, the newest first.
HttpResponse get_history(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    Json sets = Json::array();
    for (const History::Note& note : services.rules.history()) {
        const StoredRules& rules = note.rules;
        sets.push_back({{"number", note.number},
                        {"at", utc_text(rules.changed_at)},
                        {"by", rules.changed_by.uid},
                        {"by_name", name_json(rules.changed_by.name)},
                        {"generation", generation_text(rules.generation)},
                        {"rules", count_json(rules.on)},
                        {"file", rules.file},
                        {"note", rules.note}});
    }
    Json in_force;
    if (view->generation != 0) {
        in_force = {{"at", utc_text(view->changed_at)},
                    {"by", view->changed_by.uid},
                    {"by_name", name_json(view->changed_by.name)},
                    {"generation", generation_text(view->generation)},
                    {"etag", view->tag},
                    {"rules", rules_on(*view)},
                    {"file", view->file},
                    {"note", view->note},
                    {"unconfirmed", unconfirmed_json(view->unconfirmed)}};
    }
    return json_response({{"in_force", std::move(in_force)}, {"sets", std::move(sets)}});
}

}  // namespace sluice
