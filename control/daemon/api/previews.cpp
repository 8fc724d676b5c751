#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/rule_draft.hpp"
#include "control/daemon/preview/preview_desk.hpp"
#include "lib/base/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

// Previews: what a draft of a rule would do to the traffic that passes next.
namespace sluice {
namespace {

constexpr std::string_view kPreviewFolder = "/v1/previews/";
constexpr std::uint32_t kLeastPreview = 10;
constexpr std::uint32_t kMostPreview = 60;
constexpr std::uint32_t kUsualPreview = 20;
constexpr std::uint32_t kLongestPreviewWait = 5;  // seconds: it is read more often than it ends

struct AskedPreview {
    RuleDraft draft;
    std::chrono::seconds lasts{kUsualPreview};
};

std::variant<AskedPreview, HttpResponse> read_asked_preview(const HttpRequest& request) {
    std::variant<RuleDraft, HttpResponse> draft = draft_of(request, {"text", "seconds"});
    if (auto* const refusal = std::get_if<HttpResponse>(&draft)) {
        return std::move(*refusal);
    }
    AskedPreview asked{.draft = std::get<RuleDraft>(std::move(draft))};
    asked.draft.alone = true;
    asked.draft.from += " preview";
    const std::variant<Json, HttpResponse> body = parse_body(request);
    const Json& json = std::get<Json>(body);
    if (const auto seconds = json.find("seconds"); seconds != json.end()) {
        if (!seconds->is_number_unsigned() || seconds->get<std::uint64_t>() < kLeastPreview ||
            seconds->get<std::uint64_t>() > kMostPreview) {
            return bad_request(fmt::format("`seconds` is a whole number from {} to {}",
                                           kLeastPreview, kMostPreview));
        }
        asked.lasts = std::chrono::seconds{seconds->get<std::uint32_t>()};
    }
    return asked;
}

HttpResponse not_previewed(const std::string& why) {
    return problem_response(422, "the draft cannot be previewed", why);
}

HttpResponse no_such_preview() {
    return problem_response(404, "no such preview",
                            "`preview` of the answer that began it names it");
}

std::string preview_in(const HttpRequest& request) {
    return request.path.substr(std::min(kPreviewFolder.size(), request.path.size()));
}

HttpResponse preview_response(const std::string& name, const PreviewRun::View& view) {
    if (view.state == PreviewRun::State::Ended) {
        return problem_response(410, "the preview has ended", view.why);
    }
    Json json{{"preview", name}};
    json.update(view.json);
    return json_response(json);
}

// The draft, compiled and sound, and ready to be judged.
struct ReadyDraft {
    CheckedDraft checked;
    DraftRules rules;
};
std::variant<ReadyDraft, HttpResponse> ready_draft(const RuleDraft& draft, Services& services) {
    std::variant<CheckedDraft, Refusal> made = services.rules.check(draft);
    if (const auto* const refusal = std::get_if<Refusal>(&made)) {
        return refused(*refusal);
    }
    auto& checked = std::get<CheckedDraft>(made);
    if (!checked.rules) {
        return problem_response(422, "the draft does not compile", "nothing is previewed",
                                draft_problems(checked.problems, draft));
    }
    if (!checked.alone) {
        return not_previewed("it does not compile by itself");
    }
    if (!checked.alone->set.named_texts.empty()) {
        return not_previewed(
            "it reads headers, cookies or functions of texts, which rules in force alone can: "
            "apply "
            "it in monitor to see what it would do");
    }
    Result<DraftRules> rules = draft_rules(*checked.alone);
    if (!rules) {
        return not_previewed(rules.error().what);
    }
    return ReadyDraft{std::move(checked), *std::move(rules)};
}

// The first rule behind the draft in the set that it would make; empty: it is the last there.
std::string rule_behind(const std::string& draft, const RuleSet& set) {
    const auto of = std::ranges::find_if(
        set.rules, [&](const Rule& rule) { return rule.id == draft && !rule.candidate; });
    const auto next = std::find_if(of == set.rules.end() ? of : of + 1, set.rules.end(),
                                   [](const Rule& rule) { return !rule.candidate; });
    return next == set.rules.end() ? std::string{} : next->id;
}

}  // namespace

HttpResponse post_previews(const HttpRequest& request, Services& services) {
    std::variant<AskedPreview, HttpResponse> read = read_asked_preview(request);
    if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    const auto& asked = std::get<AskedPreview>(read);
    std::variant<ReadyDraft, HttpResponse> made = ready_draft(asked.draft, services);
    if (auto* const refusal = std::get_if<HttpResponse>(&made)) {
        return std::move(*refusal);
    }
    auto& ready = std::get<ReadyDraft>(made);
    BeginTrace begin{.conditional = true,
                     .condition = std::move(ready.checked.alone->set),
                     .rule = asked.draft.rule,
                     .preview = true,
                     .behind = rule_behind(ready.rules.id, ready.checked.rules->set)};
    begin.seal = services.link.seal(begin.condition);
    const std::string id = ready.rules.id;
    std::unique_lock turn = services.previews->turn();
    Result<TraceBegun> begun = ask_for<TraceBegun>(services.link, std::move(begin));
    if (!begun) {
        return no_dataplane(begun.error());
    }
    const std::string name = fmt::format("{:x}-{}", begun->origin, begun->number);
    services.previews->begin(name, {std::move(ready.rules), *std::move(begun), asked.lasts});
    turn.unlock();
    write_audit(services, request,
                {.call = "preview rule " + id,
                 .before = "",
                 .after = fmt::format("{} s", asked.lasts.count()),
                 .outcome = "done"});
    HttpResponse response =
        json_response({{"preview", name},
                       {"rule", id},
                       {"seconds", asked.lasts.count()},
                       {"warnings", draft_problems(ready.checked.problems, asked.draft)}});
    response.status = 201;
    return response;
}

HttpResponse get_preview(const HttpRequest& request, Services& services) {
    const auto wait = whole_number<std::uint32_t>(argument(request, "wait", "0"));
    if (!wait || *wait > kLongestPreviewWait) {
        return bad_request(
            fmt::format("`wait` is a number of seconds up to {}", kLongestPreviewWait));
    }
    const std::string name = preview_in(request);
    const std::optional<PreviewRun::View> view =
        services.previews->read(name, std::chrono::seconds{*wait});
    return view ? preview_response(name, *view) : no_such_preview();
}

HttpResponse delete_preview(const HttpRequest& request, Services& services) {
    const std::string name = preview_in(request);
    const std::optional<PreviewRun::View> before = services.previews->end(name);
    if (!before) {
        return no_such_preview();
    }
    return before->state == PreviewRun::State::Ended
               ? preview_response(name, *before)
               : json_response({{"preview", name}, {"state", "ended"}});
}

}  // namespace sluice
