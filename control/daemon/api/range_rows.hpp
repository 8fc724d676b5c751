#pragma once
#include "control/daemon/api/key_words.hpp"

#include <cstdint>

namespace sluice {

// {"key":"10.0.0.0/8","source":"override file","line":2,"reason":…}: the row of a network or range
// that a key goes by, of those that it lies in from the smallest on, from 1 on. null: none.
[[nodiscard]] Json range_row_json(const FoundKey& found, std::uint8_t nth);

}  // namespace sluice
