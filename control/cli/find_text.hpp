#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: what concerns an address, a host or a key, rule by rule.
[[nodiscard]] std::string find_text(const Json& document);

}  // namespace sluice
