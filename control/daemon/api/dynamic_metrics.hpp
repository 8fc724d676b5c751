#pragma once
#include "control/daemon/dynamic_count.hpp"

#include <string>

namespace sluice {

// What is set through `dynamic` of the rules in force, in Prometheus text format 0.0.4.
[[nodiscard]] std::string dynamic_metrics(const DynamicCount& count, const RefusedSets& refused);

}  // namespace sluice
