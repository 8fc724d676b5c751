#pragma once
#include "control/daemon/api/key_words.hpp"

#include <cstdint>

namespace sluice {

// {"source":"override file","line":2,"says":"exempt","limit":null,"until":null,"reason":…}: a row
// of `overrides` about one key.
[[nodiscard]] Json named_row_json(const RuleSummary& rule, const NamedRow& row);

// The key's own rows that hold now, in the order of their texts; [] where there are none.
[[nodiscard]] Json own_rows_json(const FoundKey& found);

// A network or range of the rule's `overrides`, likewise, with its key and tier.
[[nodiscard]] Json override_range_json(const NamedRange& range);

// {"key":"10.0.0.0/8","source":"override file","line":2,"reason":…}: the row of a network or range
// that a key goes by, of those that it lies in from the smallest on, from 1 on. null: none.
[[nodiscard]] Json range_row_json(const FoundKey& found, std::uint8_t nth);

}  // namespace sluice
