#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/expression/operand_parser.hpp"

#include <optional>
#include <vector>

namespace sluice {

// Parses what follows `eq`, `ne`, `contains` or `matches`, or stands in starts_with() and
// ends_with(), once the operand is known to be a text: a text or, but of the first two and of
// `matches`, a `$list`.
[[nodiscard]] std::optional<Expression> parse_text_comparison(TokenReader& reader,
                                                              const Operand& operand, TextHow how,
                                                              bool negated);

// Tests whether a number of a later layer lies in one of these ranges.
[[nodiscard]] Expression number_test(const Operand& operand,
                                     const std::vector<NumberRange>& ranges);

// `{"a" "b"}` or `$list` after `in`.
[[nodiscard]] std::optional<Expression> parse_text_set(TokenReader& reader, const Operand& operand);

// starts_with(f, "x"), ends_with(f, $list)
[[nodiscard]] std::optional<Expression> parse_text_function(TokenReader& reader);

}  // namespace sluice
