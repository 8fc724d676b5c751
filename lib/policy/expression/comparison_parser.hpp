#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/expression/operand_parser.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

// One comparison: `field op value`, `field in {…}`, `field in $list`, a flag or number alone, or
// starts_with(…) and ends_with(…). What is not built yet becomes a leaf that never matches, and is
// noted in the reader.
[[nodiscard]] std::optional<Expression> parse_comparison(TokenReader& reader);

// The words of the operators that compare texts, or other values, numbers among them with an order.
[[nodiscard]] std::vector<std::string_view> comparison_words(bool is_text, bool is_ordered);

}  // namespace sluice
