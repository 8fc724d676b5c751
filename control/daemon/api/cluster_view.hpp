#pragma once
#include "control/daemon/api/api.hpp"

#include <string>

namespace sluice {

// Events of the cluster, its boxes and the rollout under way, in Prometheus text format; nothing
// where the box is in no cluster.
[[nodiscard]] std::string cluster_view_metrics(const Services& services);

}  // namespace sluice
