#pragma once
#include "control/fleet/fleet_store.hpp"
#include "control/json.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The boxes of a cluster, and which of them do not run the set that all are to run (nullopt: none).
[[nodiscard]] std::string nodes_text(const std::optional<HeadSet>& head,
                                     const std::vector<NodeRecord>& nodes,
                                     const std::vector<std::string>& drained);
[[nodiscard]] Json nodes_json(const std::optional<HeadSet>& head,
                              const std::vector<NodeRecord>& nodes,
                              const std::vector<std::string>& drained);
[[nodiscard]] std::string rollout_text(const FleetView& view, const std::vector<NodeRecord>& nodes);

}  // namespace sluice
