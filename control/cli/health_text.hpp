#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// GET /v1/health for people: what needs somebody, and what is no fault but good to know.
[[nodiscard]] std::string health_text(const Json& document);
// True if sluiced has a dataplane.
[[nodiscard]] bool has_dataplane(const Json& health);

}  // namespace sluice
