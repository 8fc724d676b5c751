#pragma once
#include "control/json.hpp"
#include "lib/l7/http1/request_doubts.hpp"

#include <string>

namespace sluice {

// A line for each cause, and one of what becomes of such a request under `on_ambiguous: both`;
// empty where there is no cause.
[[nodiscard]] std::string doubt_text(const RequestDoubts& doubts);
[[nodiscard]] Json doubt_json(const RequestDoubts& doubts);

}  // namespace sluice
