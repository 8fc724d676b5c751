#include "control/daemon/http.hpp"

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& body) {
    return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json problem(unsigned status, const std::string& title, const std::string& detail) {
    return {{"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}};
}

}  // namespace

HttpResponse json_response(const ordered_json& body) {
    return {.status = 200, .body = text_of(body)};
}

HttpResponse problem_response(unsigned status, const std::string& title,
                              const std::string& detail) {
    return {.status = status,
            .type = "application/problem+json",
            .body = text_of(problem(status, title, detail))};
}

HttpResponse problem_response(unsigned status, const std::string& title, const std::string& detail,
                              const ordered_json& problems) {
    ordered_json body = problem(status, title, detail);
    body["problems"] = problems;
    return {.status = status, .type = "application/problem+json", .body = text_of(body)};
}

HttpResponse busy_response(unsigned status, const std::string& title, const std::string& detail) {
    HttpResponse response = problem_response(status, title, detail);
    response.retry_after = 1;
    return response;
}

}  // namespace sluice
