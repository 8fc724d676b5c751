#pragma once
#include "control/explain/account.hpp"
#include "control/json.hpp"

#include <string>
#include <string_view>

namespace sluice {

// For people: the packet's fields, each rule and its limits, the verdict; each under a heading at
// the beginning of a line, but for the fields.
[[nodiscard]] std::string account_text(const PacketAccount& account, std::string_view pair);

// The same as one JSON object.
[[nodiscard]] Json account_json(const PacketAccount& account, std::string_view pair);

}  // namespace sluice
