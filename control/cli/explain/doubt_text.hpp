#pragma once
#include "control/json.hpp"
#include "lib/l7/http1/request_doubts.hpp"

#include <string>

namespace sluice {

// A line for each cause, and one that says whether `on_ambiguous: both` judges such a request;
// empty where there is no cause.
[[nodiscard]] std::string doubt_text(const RequestDoubts& doubts);
[[nodiscard]] Json doubt_json(const RequestDoubts& doubts);

}  // namespace sluice
