#include "control/cli/daemon.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice {
namespace {

constexpr long kUnavailable = 503;

DaemonRefusal refusal_from(const HttpReply& reply) {
    DaemonRefusal refusal;
    // 503: sluiced is there, but its dataplane is not.
    refusal.exit = reply.status == kUnavailable ? ExitCode::Unreached : ExitCode::Refused;
    const Json problem = Json::parse(reply.body, nullptr, false);
    if (!problem.is_object()) {
        refusal.what = fmt::format("sluiced answered with HTTP status {}", reply.status);
        return refusal;
    }
    const std::string title = problem.value("title", "");
    const std::string detail = problem.value("detail", "");
    const bool both = !title.empty() && !detail.empty() && title != detail;
    refusal.what = both ? title + ": " + detail : (detail.empty() ? title : detail);
    if (problem.contains("problems")) {
        refusal.problems = problems_from(problem["problems"]);
    }
    return refusal;
}

}  // namespace

DaemonPlace place_of(const Options& options) {
    return {options.socket, options.url, options.token_file};
}

std::variant<Json, DaemonRefusal> ask(const Options& options, const DaemonRequest& request) {
    const Result<HttpReply> reply = http_call(place_of(options), request);
    if (!reply) {
        return DaemonRefusal{ExitCode::Unreached, reply.error().what, {}};
    }
    if (reply->status < 200 || reply->status > 299) {
        return refusal_from(*reply);
    }
    Json answer = Json::parse(reply->body, nullptr, false);
    if (answer.is_discarded()) {
        return DaemonRefusal{
            ExitCode::Refused, "sluiced answered with something that is not JSON", {}};
    }
    return answer;
}

ExitCode report(const DaemonRefusal& refusal) {
    say_error(refusal.what);
    return refusal.exit;
}

ExitCode show(const Options& options, const DaemonRequest& request,
              const std::function<std::string(const Json&)>& as_text) {
    const auto answer = ask(options, request);
    if (const auto* refusal = std::get_if<DaemonRefusal>(&answer)) {
        return report(*refusal);
    }
    const Json& document = std::get<Json>(answer);
    print(options.json ? dump_line(document) : folded(as_text(document)));
    return ExitCode::Done;
}

DaemonRequest post_json(std::string target, const Json& body) {
    return {.method = "POST",
            .target = std::move(target),
            .content_type = "application/json",
            .body = body.is_null() ? "" : body.dump()};
}

}  // namespace sluice
