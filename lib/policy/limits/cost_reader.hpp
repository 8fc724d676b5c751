#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// `cost` of a rule: units charged for each thing counted.
struct ReadCost {
    std::uint32_t cost = 1;         // 1 where it is absent or wrong (reported)
    std::vector<PathCost> by_path;  // of requests, in the place of `cost`
};

[[nodiscard]] ReadCost read_cost(const MapReader& rule, const ReadContext& context);

// Once the limits have been read. Reports costs by path of what is no request, and warns, where
// they stand, of costs that some limit never holds.
void check_costs(const MapReader& map, const Rule& rule, const ReadContext& context);

// `25`, `/v1/export 25, others 1`.
[[nodiscard]] std::string text_of_cost(const RuleTerms& rule);

}  // namespace sluice
