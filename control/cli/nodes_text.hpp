#pragma once
#include "control/fleet/fleet_store.hpp"
#include "control/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// A cluster as its etcd has it.
struct ClusterNodes {
    std::optional<HeadSet> head{};  // the set that all are to run
    std::vector<NodeRecord> nodes{};
    std::vector<std::string> drained{};
    std::vector<std::string> away{};  // members of before, that may come back
    std::uint64_t size = 0;           // slots; 0: not known
};

// The boxes of a cluster, and which of them do not judge by the set that all are to run.
[[nodiscard]] std::string nodes_text(const ClusterNodes& cluster);
[[nodiscard]] Json nodes_json(const ClusterNodes& cluster);
[[nodiscard]] std::string rollout_text(const FleetView& view, const std::vector<NodeRecord>& nodes);
// The sets that all were to run, the newest first: `rollback --cluster` goes to the second.
[[nodiscard]] std::string history_text(const FleetView& view);
[[nodiscard]] Json history_json(const FleetView& view);

}  // namespace sluice
