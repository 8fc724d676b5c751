#pragma once
#include "control/daemon/api_counters.hpp"

#include <string>

namespace sluice {

// What the API's sockets count, in Prometheus text format 0.0.4.
[[nodiscard]] std::string api_metrics(const ApiCounters& counters);

}  // namespace sluice
