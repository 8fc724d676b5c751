#pragma once
#include "lib/policy/overrides/dynamic_terms.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>
#include <span>

namespace sluice {

// Reads `dynamic` of a rule: {source: api, ttl, floor, ceiling}. A bound is one value, which is the
// rate where it reads as one (`10/s`) and else the count of the rule's limits, or a map of `rate`,
// `burst` (`queue`) and `count`. Both bounds have the same numbers, every limit that has such a
// number takes both, and no ceiling is below its floor. nullopt: what is wrong was reported.
[[nodiscard]] std::optional<DynamicTerms> read_dynamic(const MapReader& rule,
                                                       std::span<const MeteredLimit> limits,
                                                       const ReadContext& context);

}  // namespace sluice
