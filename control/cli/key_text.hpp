#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: what a key has left under each limit, on each worker that has a bucket of it.
[[nodiscard]] std::string key_text(const Json& document);

// What is said of the key now, after that was changed.
[[nodiscard]] std::string setting_text(const Json& document);

}  // namespace sluice
