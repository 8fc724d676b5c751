#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// A packet of a trace on one line, for people.
[[nodiscard]] std::string traced_line(const Json& packet);

// What became of it, as the comment of a packet in a capture: "drop over_limit rule=… key=…".
[[nodiscard]] std::string traced_comment(const Json& packet);

}  // namespace sluice
