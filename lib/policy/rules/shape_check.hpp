#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>
#include <string>

namespace sluice {

// A rule holds packets only for `shape` in `on_exceed`, over limits whose buckets know when they
// have room again.
void check_shape(const MapReader& rule, const ActionText& on_exceed,
                 std::span<const MeteredLimit> limits, const ReadContext& context);

// Anywhere else it is an error; `what` has no departures.
void refuse_shape(const ActionText& action, const std::string& what, const ReadContext& context);

}  // namespace sluice
