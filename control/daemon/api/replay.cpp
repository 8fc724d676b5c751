#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/replayed_ask.hpp"
#include "control/daemon/api/replayed_json.hpp"
#include "control/daemon/api/rule_draft.hpp"
#include "control/daemon/thread_time.hpp"
#include "control/replay/draft_replay.hpp"

#include <malloc.h>
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

// A capture through the rules in force with a draft in its place, by the pipeline that enforces.
// Nothing of the box is changed by it.
namespace sluice {
namespace {

constexpr Nanoseconds kMostReplayTime = std::chrono::seconds{5};  // of a processor

HttpResponse not_replayed(const Error& error) {
    switch (error.code) {
        case Errc::BadSyntax:
            return problem_response(422, "no whole capture", error.what);
        case Errc::NotSupported:
            return problem_response(422, "another link type", error.what);
        case Errc::TooMany:
            return problem_response(413, "too much to replay", error.what);
        case Errc::Refused:
            return problem_response(422, "the draft cannot be replayed", error.what);
        case Errc::NoMemory:
            return problem_response(507, "no memory", error.what);
        default:
            return problem_response(500, "not replayed", error.what);
    }
}

// The pair whose frames they are taken for: the first.
std::string first_pair(const DataplaneLink& link) {
    const std::vector<PortRssMapping> ports = link.rss_mapping().ports;
    const auto first = std::ranges::find(ports, Direction::In, &PortRssMapping::dir);
    return first == ports.end() ? "" : first->pair;
}

HttpResponse replayed(ReplayedAsk ask, CheckedDraft checked, const DataplaneLink& link) {
    const auto summary = std::ranges::find(checked.rules->rules, checked.id, &RuleSummary::id);
    const RuleSummary draft = *summary;
    const bool has_inside = !ask.inside.empty();
    const Nanoseconds end = processor_time() + kMostReplayTime;
    const Result<DraftReplay> told =
        replay_draft({.rules = *std::move(checked.rules),
                      .draft = checked.id,
                      .capture = ask.capture,
                      .treatment = link.treatment().value_or(PacketTreatment{}),
                      .pair = first_pair(link),
                      .inside = std::move(ask.inside),
                      .may_go_on = [end] { return processor_time() < end; }});
    if (!told) {
        return not_replayed(told.error());
    }
    return json_response({{"rule", checked.id},
                          {"warnings", draft_problems(checked.problems, ask.draft)},
                          {"result", replayed_json(*told, draft, has_inside)}});
}

}  // namespace

HttpResponse post_replay(const HttpRequest& request, Services& services) {
    const ExplainTurns::Turn turn = services.replay_turns.take();
    if (!turn) {
        return busy_response(503, "busy", "others are replaying captures; try again");
    }
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    std::variant<ReplayedAsk, HttpResponse> read = replayed_ask_of(std::get<Json>(parsed), request);
    if (auto* const refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    auto& ask = std::get<ReplayedAsk>(read);
    std::variant<CheckedDraft, Refusal> made = services.rules.check(ask.draft);
    if (const auto* const refusal = std::get_if<Refusal>(&made)) {
        return refused(*refusal);
    }
    auto& checked = std::get<CheckedDraft>(made);
    if (!checked.rules) {
        return problem_response(422, "the draft does not compile", "nothing is replayed",
                                draft_problems(checked.problems, ask.draft));
    }
    HttpResponse response = replayed(std::move(ask), std::move(checked), services.link);
    // A replay takes hundreds of megabytes, which the allocator would keep for this thread alone.
    (void)::malloc_trim(0);
    return response;
}

}  // namespace sluice
