#include "control/daemon/api/api.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

std::string word(bool pass) {
    return pass ? "pass" : "resume";
}

}  // namespace

HttpResponse post_panic(const HttpRequest& request, Services& services) {
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    if (!body.is_object() || !body.contains("pass") || !body["pass"].is_boolean()) {
        return problem_response(400, "bad request",
                                R"(the body is {"pass":true} or {"pass":false})");
    }
    const bool pass = body["pass"];
    const Result<Stats> before = ask_stats(services);
    const Result<Reply> reply = services.link.call(SetPanic{pass});
    services.audit.write({.who = request.peer,
                          .call = "panic " + word(pass),
                          .before = before ? word(before->panic) : "",
                          .after = reply ? word(pass) : "",
                          .outcome = reply ? "done" : "refused: " + reply.error().what});
    if (!reply) {
        return no_dataplane(reply.error());
    }
    return json_response({{"pass", pass}});
}

}  // namespace sluice
