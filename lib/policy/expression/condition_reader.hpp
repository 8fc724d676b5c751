#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>

namespace sluice {

// The expression in a scalar; its first error and its warnings are reported at their places.
// nullopt after an error.
[[nodiscard]] std::optional<ParsedExpression> read_condition(const YamlNode& scalar,
                                                             NamedLists& lists,
                                                             const ReadContext& context);

}  // namespace sluice
