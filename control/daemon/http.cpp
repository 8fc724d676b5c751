#include "control/daemon/http.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& body) {
    return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json problem(unsigned status, const std::string& title, const std::string& detail) {
    return {{"type", "about:blank"}, {"title", title}, {"status", status}, {"detail", detail}};
}

std::string_view trimmed_part(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

// `q=0`, `q=0.000`: never.
bool is_never(std::string_view parameter) {
    return parameter.starts_with("q=0") && parameter.find_first_not_of(".0", 3) == parameter.npos;
}

}  // namespace

bool takes_gzip(const HttpRequest& request) {
    std::string_view left = request.accept_encoding;
    while (!left.empty()) {
        const std::string_view item = left.substr(0, left.find(','));
        left.remove_prefix(std::min(item.size() + 1, left.size()));
        const std::size_t semicolon = std::min(item.find(';'), item.size());
        if (trimmed_part(item.substr(0, semicolon)) == "gzip") {
            return semicolon == item.size() || !is_never(trimmed_part(item.substr(semicolon + 1)));
        }
    }
    return false;
}

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

HttpResponse no_live_place() {
    constexpr unsigned kAgainIn = 5;  // seconds
    ordered_json body = problem(503, "busy",
                                "as many pages look at this box as may, of all or of one user: "
                                "close one, or try again");
    body["again_in"] = kAgainIn;
    return {.status = 503,
            .type = "application/problem+json",
            .body = text_of(body),
            .retry_after = kAgainIn};
}

HttpResponse busy_response(unsigned status, const std::string& title, const std::string& detail) {
    HttpResponse response = problem_response(status, title, detail);
    response.retry_after = 1;
    return response;
}

}  // namespace sluice
