#include "control/daemon/api/api.hpp"
#include "control/daemon/notify/notice_sender.hpp"

#include <nlohmann/json.hpp>

#include <semaphore>

namespace sluice {
namespace {

// Tests under way hold places of ordinary requests: the rest of them stays for others.
std::counting_semaphore<4> test_places{4};

std::string webhook_in(const HttpRequest& request) {
    constexpr std::string_view kBefore = "/v1/notify/";
    constexpr std::string_view kAfter = "/test";
    return request.path.substr(kBefore.size(),
                               request.path.size() - kBefore.size() - kAfter.size());
}

HttpResponse answer(const std::string& name, const WebhookCall::Result& result) {
    return result.problem.empty()
               ? json_response(nlohmann::ordered_json{{"webhook", name}, {"status", result.status}})
               : problem_response(502, "not taken", "the webhook " + name + ": " + result.problem);
}

}  // namespace

HttpResponse post_notify_test(const HttpRequest& request, Services& services) {
    const std::string name = webhook_in(request);
    if (!test_places.try_acquire()) {
        return busy_response(429, "busy", "other webhooks are tested now; try again");
    }
    const std::optional<WebhookCall::Result> result = services.notices.test(name);
    test_places.release();
    write_audit(services, request,
                {.call = "notify test " + name,
                 .before = "",
                 .after = "",
                 .outcome = !result                   ? "refused: no such webhook"
                            : result->problem.empty() ? "done"
                                                      : "not taken: " + result->problem});
    return result ? answer(name, *result)
                  : problem_response(404, "no such webhook",
                                     "sluice.yaml has no webhook " + name + " under `notify`");
}

}  // namespace sluice
