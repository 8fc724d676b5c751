#include "control/confirm_time.hpp"
#include "control/daemon/api/change.hpp"
#include "lib/policy/values/named_value.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <charconv>
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
    return end ? Json(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                  fmt::gmtime(static_cast<std::time_t>(*end))))
               : Json();
}

std::string_view mode_word(Mode mode) {
    return kModeNames[static_cast<std::size_t>(mode)];
}

}  // namespace

HttpResponse get_rules(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    Json rules = Json::array();
    for (std::size_t i = 0; i < view->rules.size(); ++i) {
        const RuleSummary& rule = view->rules[i];
        rules.push_back({{"id", rule.id},
                         {"kind", kRuleKindNames[static_cast<std::size_t>(rule.kind)]},
                         {"description", rule.description},
                         {"mode", mode_word(rule.mode)},
                         {"file_mode", mode_word(view->file_modes[i])},
                         {"ends", end_json(rule, view->lives)},
                         {"ended", has_ended(rule.id, view->lives)},
                         {"line", rule.line},
                         {"when", rule.when},
                         {"key", rule.key},
                         {"action", rule.action},
                         {"limits", limits_json(rule.limits)},
                         {"memory", rule.memory}});
        if (!rule.ban.empty()) {
            rules.back()["ban"] = rule.ban;
        }
        if (rule.dynamic) {
            rules.back()["dynamic"] = text_of(*rule.dynamic);
        }
        if (const std::string events = value_of(rule.settings, "events"); !events.empty()) {
            rules.back()["events"] = events;
        }
        if (Json set = keys_json(rule.id, view->keys); !set.empty()) {
            rules.back()["keys_set"] = std::move(set);
        }
    }
    Json document{{"generation", generation_text(view->generation)},
                  {"file", view->file},
                  {"unconfirmed", unconfirmed_json(view->unconfirmed)},
                  {"rules", std::move(rules)}};
    if (!view->list_problem.empty()) {
        document["list_problem"] = view->list_problem;
    }
    HttpResponse response = json_response(document);
    response.etag = generation_text(view->generation);
    return response;
}

HttpResponse get_source(const HttpRequest&, Services& services) {
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (view->generation == 0) {
        return problem_response(404, "no rules", "no rules were ever applied");
    }
    return {.status = 200, .type = "application/yaml", .body = view->text};
}

namespace {

// The generation that If-Match names; nullopt: any.
Result<std::optional<std::uint64_t>> named_by(std::string_view text) {
    if (text.empty() || text == "*") {
        return std::optional<std::uint64_t>{};
    }
    if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
        text = text.substr(1, text.size() - 2);
    }
    std::uint64_t generation = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), generation, 16);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return Error{Errc::BadSyntax, "`If-Match` names a generation, as GET /v1/rules has it"};
    }
    return std::optional{generation};
}

}  // namespace

HttpResponse put_rules(const HttpRequest& request, Services& services) {
    const std::string force = argument(request, "force", "0");
    const std::string strict = argument(request, "strict", "0");
    for (const auto& [name, value] : {std::pair{"force", force}, {"strict", strict}}) {
        if (value != "0" && value != "1") {
            return problem_response(400, "bad request", fmt::format("`{}` is 0 or 1", name));
        }
    }
    const Result<std::optional<std::uint64_t>> in_place_of = named_by(request.if_match);
    if (!in_place_of) {
        return problem_response(400, "bad request", in_place_of.error().what);
    }
    std::variant<RuleFile, HttpResponse> read = rule_file_of(request);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    RuleFile& file = std::get<RuleFile>(read);
    file.in_place_of = *in_place_of;
    file.force = force == "1";
    file.strict = strict == "1";
    const std::string confirm = argument(request, "confirm", "");
    if (request.query.contains("confirm")) {
        const Result<Nanoseconds> time = parse_confirm_time(confirm);
        if (!time) {
            return problem_response(400, "bad request", "`confirm`: " + time.error().what);
        }
        file.confirm = *time;
    }
    const RuleChange change = services.rules.apply(std::move(file));
    record(services, request,
           std::string{"apply"} + (force == "1" ? " --force" : "") +
               (strict == "1" ? " --strict" : "") +
               (confirm.empty() ? "" : " --confirm " + confirm),
           change);
    return change.refusal ? refused(*change.refusal) : changed(change, services);
}

HttpResponse put_mode(const HttpRequest& request, Services& services) {
    constexpr std::string_view kBefore = "/v1/rules/";
    constexpr std::string_view kAfter = "/mode";
    const std::string id =
        request.path.substr(kBefore.size(), request.path.size() - kBefore.size() - kAfter.size());
    const Json body = Json::parse(request.body, nullptr, false);
    if (!body.is_object() || !body.contains("mode") || !body["mode"].is_string()) {
        return problem_response(400, "bad request",
                                R"(the body is {"mode":"monitor"}, or enforce, or off)");
    }
    const std::string word = body["mode"];
    const auto found = std::find(kModeNames.begin(), kModeNames.end(), word);
    if (found == kModeNames.end()) {
        return problem_response(422, "no such mode", "a mode is monitor, enforce or off");
    }
    const RuleChange change = services.rules.set_mode(
        id, static_cast<Mode>(found - kModeNames.begin()), request.peer.uid);
    record(services, request, "mode " + id + " " + word, change);
    if (change.refusal) {
        return refused(*change.refusal);
    }
    return json_response(
        {{"id", id}, {"mode", word}, {"generation", generation_text(change.after)}});
}

}  // namespace sluice
