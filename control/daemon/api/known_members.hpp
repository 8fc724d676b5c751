#pragma once
#include "control/daemon/http.hpp"
#include "control/json.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// A member of a request's body that is none of these, in words; empty: all are known. A body with
// one is refused: done without it, a mistyped `for` would ban for good.
[[nodiscard]] std::string unknown_member(const Json& body,
                                         std::initializer_list<std::string_view> known);

// The refusal of a body that has one; nullopt: all members are known.
[[nodiscard]] std::optional<HttpResponse> refuse_unknown(
    const Json& body, std::initializer_list<std::string_view> known);

}  // namespace sluice
