#include "control/active_json.hpp"
#include "control/cluster_json.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/daemon/api/verbs.hpp"
#include "control/daemon/dynamic_count.hpp"
#include "control/service_json.hpp"
#include "lib/policy/values/named_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

Json limits_json(const std::vector<LimitSummary>& limits) {
    Json list = Json::array();
    for (const LimitSummary& limit : limits) {
        list.push_back({{"name", limit.name},
                        {"key", limit.key},
                        {"text", limit.text},
                        {"scope", limit.scope},
                        {"bound", bound_text(limit)}});
        add_cluster(limit, list.back());
    }
    return list;
}

// Settings of single keys of a rule, made at run time.
Json keys_json(const std::string& rule, const KeySettings& settings) {
    Json list = Json::array();
    for (const KeySetting& setting : settings) {
        if (setting.rule == rule && !has_ended(setting)) {
            list.push_back(setting_json(setting));
        }
    }
    return list;
}

// When a rule ends or has ended; null: it has no ttl.
Json end_json(const RuleSummary& rule, const RuleLives& lives) {
    const std::optional<std::int64_t> end = end_of(rule, lives);
    return end ? Json(utc_text(*end)) : Json();
}

std::string_view mode_word(Mode mode) {
    return kModeNames[static_cast<std::size_t>(mode)];
}

}  // namespace

// One rule of a set, by its number.
Json rule_json(const RuleView& view, std::size_t number) {
    const RuleSummary& rule = view.rules[number];
    Json row{{"id", rule.id},
             {"kind", kRuleKindNames[static_cast<std::size_t>(rule.kind)]},
             {"description", rule.description},
             {"mode", mode_word(rule.mode)},
             {"file_mode", mode_word(view.file_modes[number])},
             {"ends", end_json(rule, view.lives)},
             {"ended", has_ended(rule.id, view.lives)},
             {"line", rule.line},
             {"when", rule.when},
             {"key", rule.key},
             {"action", rule.action},
             {"limits", limits_json(rule.limits)},
             {"memory", rule.memory}};
    if (!rule.file.empty()) {
        row["file"] = rule.file;
    }
    if (rule.active) {
        row["active"] = active_json(*rule.active, utc_now());
    }
    if (!rule.ban.empty()) {
        row["ban"] = rule.ban;
    }
    if (rule.dynamic) {
        row["dynamic"] = text_of(*rule.dynamic);
    }
    if (const std::string events = value_of(rule.settings, "events"); !events.empty()) {
        row["events"] = events;
    }
    if (rule.stance.kind != Stance::Kind::None) {
        row["stance"] = stance_json(rule.stance);
    }
    if (Json set = keys_json(rule.id, view.keys); !set.empty()) {
        row["keys_set"] = std::move(set);
    }
    return row;
}

namespace {

Json services_in(const RuleView& view) {
    Json services = services_json(view.services);
    for (std::size_t i = 0; i < view.services.size(); ++i) {
        services[i]["file_mode"] = mode_word(view.service_file_modes[i]);
    }
    return services;
}

}  // namespace

HttpResponse get_rules(const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    Json rules = Json::array();
    for (std::size_t i = 0; i < view->rules.size(); ++i) {
        rules.push_back(rule_json(*view, i));
    }
    Json document{{"generation", generation_text(view->generation)},
                  {"etag", view->tag},
                  {"file", view->file},
                  {"unconfirmed", unconfirmed_json(view->unconfirmed)},
                  {"rules", std::move(rules)},
                  {"services", services_in(*view)}};
    if (!view->list_problem.empty()) {
        document["list_problem"] = view->list_problem;
    }
    HttpResponse response = json_response(document);
    response.etag = view->tag;
    return response;
}

HttpResponse get_source(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (view->generation == 0) {
        return problem_response(404, "no rules", "no rules were ever applied");
    }
    if (view->slices.empty()) {
        return {.status = 200, .type = "application/yaml", .body = view->text, .etag = view->tag};
    }
    std::string text;
    for (const RuleFilePart& part : parts_of(view->text, view->slices)) {
        text += fmt::format("==> {} <==\n{}", part.file, part.text);
        text += text.ends_with('\n') ? "" : "\n";
    }
    return {.status = 200, .type = "text/plain", .body = std::move(text), .etag = view->tag};
}

// The same for programs: each file's text, byte for byte.
HttpResponse get_files(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (view->generation == 0) {
        return problem_response(404, "no rules", "no rules were ever applied");
    }
    Json files = Json::array();
    for (const RuleFilePart& part : parts_of(view->text, view->slices)) {
        files.push_back({{"name", part.file}, {"directory", part.folder}, {"text", part.text}});
    }
    if (files.empty()) {
        files.push_back(
            {{"name", view->file}, {"directory", view->directory}, {"text", view->text}});
    }
    HttpResponse response = json_response({{"generation", generation_text(view->generation)},
                                           {"etag", view->tag},
                                           {"files", std::move(files)}});
    response.etag = view->tag;
    return response;
}

HttpResponse put_rules(const HttpRequest& request, Services& services) {
    if (std::optional<HttpResponse> refusal = refuse_undetached(request, services)) {
        return *std::move(refusal);
    }
    std::variant<ChangeTerms, HttpResponse> terms = change_terms_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&terms)) {
        return std::move(*refusal);
    }
    std::variant<RuleFile, HttpResponse> read = rule_file_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    const auto& how = std::get<ChangeTerms>(terms);
    const std::string forgive = argument(request, "forgive", "0");
    if (forgive != "0" && forgive != "1") {
        return bad_request("`forgive` is 0 or 1");
    }
    RuleFile& file = std::get<RuleFile>(read);
    file.forgive = forgive == "1";
    file.in_place_of = how.in_place_of;
    file.force = how.force;
    file.strict = how.strict;
    file.confirm = how.confirm;
    const RuleChange change = services.rules.apply(std::move(file));
    const std::string words = how.words + (forgive == "1" ? " --forgive" : "");
    record(services, request, "apply" + words, change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

namespace {

// nullopt: there is no rule and no service of that id.
std::optional<Mode> mode_in_force(const RuleView& view, const std::string& id) {
    if (const RuleSummary* const rule = find_rule(view.rules, id)) {
        return rule->mode;
    }
    const auto service = std::ranges::find(view.services, id, &ServiceSummary::id);
    return service == view.services.end() ? std::nullopt : std::optional{service->mode};
}

}  // namespace

HttpResponse put_mode(const HttpRequest& request, Services& services) {
    const std::string id = rule_in(request, "/mode");
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    if (!body.is_object() || !body.contains("mode") || !body["mode"].is_string()) {
        return bad_request(R"(the body is {"mode":"monitor"}, or enforce, or off)");
    }
    if (auto refusal = refuse_unknown(body, {"mode"})) {
        return *std::move(refusal);
    }
    const std::string word = body["mode"];
    const auto found = std::find(kModeNames.begin(), kModeNames.end(), word);
    if (found == kModeNames.end()) {
        return problem_response(422, "no such mode", "a mode is monitor, enforce or off");
    }
    const std::optional<Mode> now = mode_in_force(*view_for(request, services), id);
    // A tenant is not told by its role which ids others have.
    if (request.role == Role::Tenant && !now) {
        return no_such_rule(id);
    }
    if (request.role < kAnyModeRole && (word != "monitor" || now != Mode::Enforce)) {
        return lacks_role(request, kAnyModeRole);
    }
    // A rule that only counts is the way out of trouble, on one box too; nodes shows it as
    // detached.
    if (word != "monitor" && tenant_of(id).empty()) {
        if (auto refusal = refuse_undetached(request, services)) {
            return *std::move(refusal);
        }
    }
    const auto mode = static_cast<Mode>(found - kModeNames.begin());
    const RuleChange change = services.rules.set_mode(id, mode, author_of(request));
    record(services, request, "mode " + id + " " + word, change);
    if (change.refusal) {
        return refused(*change.refusal);
    }
    Json answer{{"id", id}, {"mode", word}, {"generation", generation_text(change.after)}};
    if (change.unconfirmed && tenant_of(id).empty()) {
        answer["goes_with_trial"] = !goes_on_after_trial(mode);
    }
    return json_response(answer);
}

}  // namespace sluice
