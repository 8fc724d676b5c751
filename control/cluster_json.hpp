#pragma once
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

namespace sluice {

// How boxes share a limit: {"size","assumed","sharing","box_unsynced","worker_unsynced",
// "overshoot","owner_down"}.
[[nodiscard]] Json cluster_json(const ClusterSummary& cluster);

// Adds it to a limit's object, where boxes share the limit.
void add_cluster(const LimitSummary& limit, Json& json);

}  // namespace sluice
