#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/expression/operand_parser.hpp"

#include <optional>

namespace sluice {

// One comparison: `field op value`, `field in {…}`, `field in $list`, a flag or number alone, or
// starts_with(…) and ends_with(…). What is not built yet becomes a leaf that never matches, and is
// noted in the reader.
[[nodiscard]] std::optional<Expression> parse_comparison(TokenReader& reader);

}  // namespace sluice
