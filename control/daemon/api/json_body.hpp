#pragma once
#include "control/daemon/http.hpp"
#include "control/json.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace sluice {

// A text read as JSON.
struct ReadJson {
    Json document;                        // is_discarded(): it is none
    std::optional<std::string> repeated;  // a member, decoded, that an object of it has twice
};
[[nodiscard]] ReadJson read_json(std::string_view text);

// The body of a request. One that is no JSON is discarded (is_discarded()), for the call to say
// which form it takes. HttpResponse: the refusal of one in which a member stands twice; done with
// either of the two, a call would ban for another time than its sender has read.
[[nodiscard]] std::variant<Json, HttpResponse> parse_body(const HttpRequest& request);

}  // namespace sluice
