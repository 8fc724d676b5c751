#include "control/daemon/api/api.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

std::string word(bool pass) {
    return pass ? "pass" : "resume";
}

}  // namespace

HttpResponse post_panic(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    if (!body.is_object() || !body.contains("pass") || !body["pass"].is_boolean()) {
        return bad_request(R"(the body is {"pass":true} or {"pass":false})");
    }
    if (auto refusal = refuse_unknown(body, {"pass", "not_after_ns"})) {
        return *std::move(refusal);
    }
    const Json not_after = body.value("not_after_ns", Json(0U));
    if (!not_after.is_number_unsigned()) {
        return bad_request("not_after_ns is an instant of CLOCK_BOOTTIME, in ns");
    }
    const bool pass = body["pass"];
    const Result<Reply> reply = services.link.call(SetPanic{pass, not_after.get<std::uint64_t>()});
    const auto* set = reply ? std::get_if<PanicSet>(&*reply) : nullptr;
    write_audit(services, request,
                {.call = "panic " + word(pass),
                 .before = set != nullptr ? word(set->before) : "",
                 .after = reply ? word(pass) : "",
                 .outcome = reply ? "done" : "refused: " + reply.error().what});
    if (!reply) {
        return no_dataplane(reply.error());
    }
    return json_response({{"pass", pass}});
}

}  // namespace sluice
