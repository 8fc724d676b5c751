#pragma once
#include "control/json.hpp"

#include <cstdint>
#include <string>

namespace sluice {

// For people: what the kernel drops early of what was sought, and at which ports it does not. Empty
// where nothing is said of it.
[[nodiscard]] std::string early_drop_text(const Json& document);

// The number of its entries.
[[nodiscard]] std::int64_t early_drop_entries(const Json& document);

}  // namespace sluice
