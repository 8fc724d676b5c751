#pragma once
#include "control/heatmap/heat_column.hpp"
#include "control/heatmap/heat_reading.hpp"
#include "control/heatmap/limit_terms.hpp"
#include "control/json.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// The maps of one limit, from one instant (UTC, seconds) to another, in columns of one length.
struct DrawnMaps {
    const RuleSummary& rule;
    unsigned limit = 0;
    unsigned step = 10;
    std::vector<unsigned> steps;  // that there are
    std::int64_t from = 0;
    std::int64_t to = 0;
};

// {"limits":[…],"limit":0,"step_s":10,…,"columns":[…],"reading":{…}}, as GET
// /v1/rules/ID/heatmap has it behind its first members.
[[nodiscard]] Json heat_maps_json(const DrawnMaps& maps,
                                  std::span<const std::optional<HeatColumn>> columns,
                                  const HeatReading& reading);

}  // namespace sluice
