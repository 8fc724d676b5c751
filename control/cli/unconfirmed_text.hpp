#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// The words of an answer on rules that are not confirmed yet, as one line; empty when they are.
[[nodiscard]] std::string unconfirmed_text(const Json& answer);

}  // namespace sluice
