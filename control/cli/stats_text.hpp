#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// `GET /v1/stats` as tables. With what it was `seconds` before, rates stand beside the counts;
// counts that fell (the dataplane was restarted) have none.
[[nodiscard]] std::string stats_text(const Json& now, const Json* before = nullptr,
                                     double seconds = 1);

// A line of `GET /v1/rules` and `/v1/stats` that says which lists are not in force; empty when all
// are.
[[nodiscard]] std::string list_problem_text(const Json& document);

// A line that says so where an answer has `panic`, and it is on; else empty.
[[nodiscard]] std::string panic_text(const Json& document);

}  // namespace sluice
