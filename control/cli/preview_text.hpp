#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// `result` of GET /v1/previews/ID: its sentence, the most refused groups, what is not known.
[[nodiscard]] std::string preview_text(const Json& result);

}  // namespace sluice
