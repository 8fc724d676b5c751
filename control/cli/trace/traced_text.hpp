#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// A packet of a trace on one line, for people.
[[nodiscard]] std::string traced_line(const Json& packet);

// The packet's outcome, as its comment in a capture: "drop over_limit rule=… key=…".
[[nodiscard]] std::string traced_comment(const Json& packet);

}  // namespace sluice
