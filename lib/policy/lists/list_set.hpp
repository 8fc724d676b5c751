#pragma once
#include "lib/policy/expression/operand_parser.hpp"
#include "lib/policy/expression/value_parser.hpp"

#include <optional>

namespace sluice {

// `$name` on the right of `in`: the values of the list, for this operand. nullopt: there is no such
// list, or it does not fit the operand; the reader has the error, at the name's place.
[[nodiscard]] std::optional<RangeSet> list_set(TokenReader& reader, const Operand& operand);

}  // namespace sluice
