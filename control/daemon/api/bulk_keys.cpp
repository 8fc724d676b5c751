#include "control/daemon/api/bulk_keys.hpp"

#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/key_words.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "lib/policy/keys/key_setting.hpp"

#include <fmt/format.h>

namespace sluice {

std::variant<BulkCall, HttpResponse> read_bulk(const HttpRequest& request, Services& services,
                                               const BulkForm& form) {
    std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return std::move(*refusal);
    }
    BulkCall call{.body = std::get<Json>(std::move(parsed)),
                  .rule = rule_in(request, form.path_end),
                  .view = view_for(request, services)};
    const Json& body = call.body;
    const bool has_keys = body.is_object() && body.contains("keys") && body["keys"].is_array() &&
                          !body["keys"].empty() && may_name_tier(body);
    if (!has_keys) {
        return bad_request(
            fmt::format("the body is {}, of which only `keys` is needed", form.example));
    }
    if (body["keys"].size() > kMaxKeySettings) {
        return problem_response(
            413, "too many",
            fmt::format("at most {} keys can be {}", kMaxKeySettings, form.too_many));
    }
    if (find_rule(call.view->rules, call.rule) == nullptr) {
        return no_such_rule(call.rule);
    }
    return call;
}

void KeyFaults::add(std::size_t item, const std::string& what) {
    if (++count_ <= kMostTold) {
        told_.push_back({{"file", ""},
                         {"line", item},
                         {"column", 1},
                         {"severity", severity_},
                         {"message", what}});
    }
}

std::string detail_in(const HttpResponse& problem) {
    const Json document = Json::parse(problem.body, nullptr, false);
    return document.is_object() ? document.value("detail", "") : "";
}

void NamedKeys::add(std::string_view key) {
    if (++count_ <= kMostNamed) {
        text_ += (count_ == 1 ? ", " : " ") + std::string{key};
    } else if (count_ == kMostNamed + 1) {
        text_ += " ...";
    }
}

}  // namespace sluice
