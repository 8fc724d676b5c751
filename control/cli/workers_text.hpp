#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: a row for each worker, and their sums.
[[nodiscard]] std::string workers_text(const Json& document);

}  // namespace sluice
