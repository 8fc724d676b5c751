#include "control/active_json.hpp"
#include "control/cluster_json.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/rule_draft.hpp"
#include "control/daemon/placement.hpp"
#include "control/daemon/rule_diff.hpp"
#include "control/service_json.hpp"
#include "lib/bucket/pool/pool_line.hpp"
#include "lib/policy/limits/limit_builder.hpp"
#include "lib/policy/rules/action_effects.hpp"

#include <algorithm>
#include <optional>
#include <utility>

// A draft of rules as it would be if it were applied.
namespace sluice {
namespace {

constexpr std::uint64_t kBytesOfBucket = 16;

// The least memory of one key in a worker's table: buckets that are more than a debt have a line.
std::uint64_t bytes_per_key(const RuleSummary& rule) {
    std::uint64_t bytes = 0;
    for (const LimitSummary& limit : rule.limits) {
        const bool is_bucket =
            limit.numbers && counting_of(limit.numbers->limit) == Counting::Bucket;
        bytes += kBytesOfBucket + (is_bucket ? 0 : kLineBytes);
    }
    return bytes;
}

std::string counted_unit_of(const LimitSummary& limit) {
    if (!limit.numbers) {
        return "";
    }
    const std::string_view word = unit_word(limit.numbers->per, false);
    return word.empty() ? "bytes" : std::string{word.substr(1)};
}

// The change of one rule against the set in force; nullptr: nothing is another.
const RuleDiff* diff_of_rule(const SetDiff& diff, const std::string& id) {
    const auto found = std::ranges::find(diff.changed, id, &RuleDiff::id);
    return found == diff.changed.end() ? nullptr : &*found;
}

const LimitDiff* diff_of_limit(const RuleDiff* rule, const std::string& name) {
    if (rule == nullptr) {
        return nullptr;
    }
    const auto found = std::ranges::find(rule->limits, name, &LimitDiff::name);
    return found == rule->limits.end() ? nullptr : &*found;
}

Json checked_limit_json(const LimitSummary& limit, const RuleDiff* diff, bool is_new) {
    const LimitDiff* const change = diff_of_limit(diff, limit.name);
    const bool resets = change != nullptr && change->kind == LimitDiff::Kind::Reset;
    const std::string promise = promise_text(limit);
    Json json{
        {"name", limit.name},
        {"key", limit.key},
        {"tier", limit.tier},
        {"text", limit.text},
        {"unit", counted_unit_of(limit)},
        {"scope", limit.scope},
        {"bound", bound_text(limit)},
        {"promise", promise.empty() ? Json() : Json(promise)},
        {"most", limit.promise ? Json(limit.promise->most) : Json()},
        {"window_s",
         limit.promise ? Json(static_cast<double>(limit.promise->window.count()) / 1e9) : Json()},
        {"starts_anew", is_new ? Json() : Json(resets)}};
    add_cluster(limit, json);
    if (resets) {
        json["because"] = change->because;
    }
    return json;
}

Json checked_answers_json(const RuleSummary& summary, const RuleSet& set) {
    const auto rule = std::ranges::find(set.rules, summary.id, &Rule::id);
    if (rule == set.rules.end() ||
        (rule->on_match != OnMatch::Meter && rule->on_match != OnMatch::Act)) {
        return Json::array();
    }
    Json list = Json::array();
    for (const ActionEffect& effect :
         effects_of(rule->on_match == OnMatch::Act ? rule->match_action : rule->on_exceed, set)) {
        list.push_back({{"protocol", effect.protocol}, {"does", effect.does}});
    }
    return list;
}

// null: it is new, and so are all its buckets.
Json anew_json(const RuleDiff* diff, bool is_new) {
    if (is_new) {
        return nullptr;
    }
    return diff != nullptr && std::ranges::any_of(diff->limits, [](const LimitDiff& limit) {
               return limit.kind == LimitDiff::Kind::Reset;
           });
}

Json checked_rule_json(const RuleSummary& rule, const CompiledRules& compiled,
                       const SetDiff& diff) {
    const bool is_new = std::ranges::find(diff.added, rule.id) != diff.added.end();
    const RuleDiff* const change = diff_of_rule(diff, rule.id);
    Json limits = Json::array();
    for (const LimitSummary& limit : rule.limits) {
        limits.push_back(checked_limit_json(limit, change, is_new));
    }
    const std::string_view placement = placement_of(rule);
    Json json{{"id", rule.id},
              {"kind", kRuleKindNames[static_cast<std::size_t>(rule.kind)]},
              {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
              {"key", rule.key},
              {"limits", std::move(limits)},
              {"placement", placement.empty() ? Json() : Json(placement)},
              {"bytes_per_key", bytes_per_key(rule)},
              {"memory", rule.memory},
              {"is_new", is_new},
              {"starts_anew", anew_json(change, is_new)},
              {"action", rule.action},
              {"answers", checked_answers_json(rule, compiled.set)}};
    if (rule.active) {
        json["active"] = active_json(*rule.active, utc_now());
    }
    if (!rule.ban.empty()) {
        json["ban"] = rule.ban;
    }
    if (rule.stance.kind != Stance::Kind::None) {
        json["stance"] = stance_json(rule.stance);
    }
    return json;
}

// True of what the draft is about: of one rule, it and its candidates.
bool is_of_draft(const RuleSummary& rule, const std::string& id) {
    return id.empty() || rule.id == id ||
           (rule.kind == RuleKind::Candidate && rule.id.starts_with(id + "."));
}

Json checked_rules_json(const CheckedDraft& checked, const RuleView& view) {
    Json list = Json::array();
    if (!checked.rules) {
        return list;
    }
    const SetDiff diff = diff_of(view, *checked.rules);
    for (const RuleSummary& rule : checked.rules->rules) {
        if (is_of_draft(rule, checked.id)) {
            list.push_back(checked_rule_json(rule, *checked.rules, diff));
        }
    }
    return list;
}

}  // namespace

HttpResponse post_check(const HttpRequest& request, Services& services) {
    std::variant<RuleDraft, HttpResponse> asked = draft_of(request, {"text", "whole"});
    if (auto* const refusal = std::get_if<HttpResponse>(&asked)) {
        return std::move(*refusal);
    }
    const auto& draft = std::get<RuleDraft>(asked);
    const std::variant<CheckedDraft, Refusal> made = services.rules.check(draft);
    if (const auto* const refusal = std::get_if<Refusal>(&made)) {
        return refused(*refusal);
    }
    const auto& checked = std::get<CheckedDraft>(made);
    return json_response({{"ok", checked.rules.has_value()},
                          {"problems", draft_problems(checked.problems, draft)},
                          {"rules", checked_rules_json(checked, *services.rules.view())}});
}

}  // namespace sluice
