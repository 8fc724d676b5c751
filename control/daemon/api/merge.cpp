#include "control/daemon/api/api.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

std::string in_us(std::uint64_t ns) {
    return fmt::format("{}us", ns / 1'000);
}

}  // namespace

HttpResponse post_merge(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    if (!body.is_object() || !body.contains("interval") || !body["interval"].is_string()) {
        return bad_request(R"(the body is {"interval":"1ms"})");
    }
    if (auto refusal = refuse_unknown(body, {"interval"})) {
        return *std::move(refusal);
    }
    const std::string text = body["interval"];
    const Result<Nanoseconds> interval = parse_duration(text);
    if (!interval || interval->count() < 0) {
        return problem_response(422, "no interval", "`" + text + "` is no duration, such as 1ms");
    }
    const auto ns = static_cast<std::uint64_t>(interval->count());
    const Result<Stats> before = ask_stats(services);
    const Result<Reply> reply = services.link.call(SetMergeInterval{ns});
    write_audit(services, request,
                {.call = "merge-interval " + text,
                 .before = before ? in_us(before->merge_interval_ns) : "",
                 .after = reply ? in_us(ns) : "",
                 .outcome = reply ? "done" : "refused: " + reply.error().what});
    if (!reply) {
        return reply.error().code == Errc::Unreachable || reply.error().code == Errc::Busy
                   ? no_dataplane(reply.error())
                   : problem_response(422, "refused by the dataplane", reply.error().what);
    }
    const auto* set = std::get_if<MergeIntervalSet>(&*reply);
    if (!services.rules.follow_box()) {
        return problem_response(
            503, "not followed by the rules",
            "the interval is in force, but the dataplane has not taken the rules "
            "as it makes them; they are brought again at the next connection");
    }
    return json_response(nlohmann::ordered_json{
        {"interval_us", ns / 1'000}, {"merged_limits", set == nullptr ? 0 : set->shared_limits}});
}

}  // namespace sluice
