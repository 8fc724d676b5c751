#pragma once
#include "lib/policy/expression.hpp"
#include "lib/policy/map_reader.hpp"

#include <optional>

namespace sluice {

// The expression in a scalar: the first error, what is not built and what can never match are
// reported at their places. nullopt after an error.
[[nodiscard]] std::optional<Expression> read_condition(const YamlNode& scalar,
                                                       const ReadContext& context);

}  // namespace sluice
