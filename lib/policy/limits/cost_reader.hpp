#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>

namespace sluice {

// `cost` of a rule: units charged for each thing counted. 1 where it is absent or wrong (reported).
[[nodiscard]] std::uint32_t read_cost(const MapReader& rule, const ReadContext& context);

// Warns, at the `cost`, of limits that never hold as much.
void warn_of_costs_that_never_fit(const MapReader& map, const Rule& rule,
                                  const ReadContext& context);

}  // namespace sluice
