#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: the live keys of a rule, and the bans that hold.
[[nodiscard]] std::string live_text(const Json& document, bool from_first = true);
[[nodiscard]] std::string bans_text(const Json& document);

}  // namespace sluice
