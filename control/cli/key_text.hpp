#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: what a key has left under each limit, on each worker that has a bucket of it.
[[nodiscard]] std::string key_text(const Json& document);

// The settings of the key after a change.
[[nodiscard]] std::string setting_text(const Json& document);

// The settings for the keys of a rule: a table.
[[nodiscard]] std::string key_list_text(const Json& document);

}  // namespace sluice
