#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// `POST /v1/rules/diff` for people: what comes, what goes, and what becomes of the buckets.
[[nodiscard]] std::string diff_text(const Json& diff);

// True if the sets differ at all, in the values of lists too.
[[nodiscard]] bool differs(const Json& diff);

}  // namespace sluice
