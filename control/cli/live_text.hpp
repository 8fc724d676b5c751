#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// A second of the box, as GET /v1/live has it: what it does, what passes, what is wrong and what to
// do, its rules in the order they came.
[[nodiscard]] std::string live_text(const Json& live);

// The warning above numbers of a second that is gone: when that was, and why there is no newer one.
[[nodiscard]] std::string stale_text(const Json& live, const std::string& why);

}  // namespace sluice
