#include "control/cli/daemon.hpp"

#include "control/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

namespace sluice {
namespace {

constexpr long kUnavailable = 503;
constexpr long kConflict = 409;
constexpr std::string_view kBusy = "busy";  // of a dataplane that is there
constexpr std::string_view kOthersRun = "other rules run now";

// A list begins anew so often when rules change, and waits so long for the new ones.
constexpr int kMostAttempts = 5;
constexpr std::chrono::milliseconds kBeforeNextAttempt{100};

DaemonRefusal refusal_from(const HttpReply& reply) {
    DaemonRefusal refusal;
    refusal.status = reply.status;
    const Json problem = Json::parse(reply.body, nullptr, false);
    const bool is_busy = problem.is_object() && problem.value("title", "") == kBusy;
    // 503: sluiced is there, but its dataplane is not.
    refusal.exit =
        reply.status == kUnavailable && !is_busy ? ExitCode::Unreached : ExitCode::Refused;
    if (!problem.is_object()) {
        refusal.what = fmt::format("sluiced answered with HTTP status {}", reply.status);
        return refusal;
    }
    const std::string title = problem.value("title", "");
    refusal.others_run = reply.status == kConflict && title == kOthersRun;
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
    return refuse(refusal.what, refusal.exit);
}

namespace {

std::variant<Json, DaemonRefusal> ask_once(const Options& options, const PagedList& list,
                                           std::string after, std::uint64_t most) {
    constexpr std::uint64_t kLongestPage = 1'000;
    Json all;
    do {
        auto answer =
            ask(options, {.target = fmt::format("{}most={}&after={}", list.target,
                                                std::min(most, kLongestPage), url_escape(after))});
        if (std::holds_alternative<DaemonRefusal>(answer)) {
            return answer;
        }
        Json& page = std::get<Json>(answer);
        after = page.at("next").is_null() ? "" : text_at(page, "next");
        most -= std::min<std::uint64_t>(most, page.at(list.rows).size());
        if (all.is_null()) {
            all = std::move(page);
        } else {
            for (Json& row : page.at(list.rows)) {
                all.at(list.rows).push_back(std::move(row));
            }
            all["next"] = page.at("next");
            if (page.contains("boxes_read")) {
                all["boxes_read"] = page["boxes_read"];  // false from the page on where it is
            }
            if (page.value("cut", false)) {
                all["cut"] = true;
            }
        }
    } while (!after.empty() && most != 0);
    return all;
}

}  // namespace

std::variant<Json, DaemonRefusal> ask_pages(const Options& options, const PagedList& list,
                                            std::string after, std::uint64_t most) {
    for (int attempt = 1;; ++attempt) {
        auto answer = ask_once(options, list, after, most);
        const auto* refusal = std::get_if<DaemonRefusal>(&answer);
        if (refusal == nullptr || !refusal->others_run || attempt == kMostAttempts) {
            return answer;
        }
        std::this_thread::sleep_for(kBeforeNextAttempt);
    }
}

ExitCode show(const Options& options, const DaemonRequest& request,
              const std::function<std::string(const Json&)>& as_text) {
    return show_answer(options, ask(options, request), as_text);
}

ExitCode show_answer(const Options& options, const std::variant<Json, DaemonRefusal>& answer,
                     const std::function<std::string(const Json&)>& as_text) {
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
