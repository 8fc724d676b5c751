#pragma once
#include "control/daemon/fleet/fleet_threads.hpp"
#include "control/fleet/etcd_access.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <memory>
#include <optional>

namespace sluice {

// What the etcd of sluice.yaml is reached by, read with the rights that sluiced starts with.
// nullopt: the box is in no cluster, or in one without etcd.
[[nodiscard]] Result<std::optional<EtcdAccess>> open_fleet(
    const std::optional<ClusterOptions>& cluster);

// The box's part in its cluster, or none.
class FleetPart {
public:
    FleetPart(const std::optional<ClusterOptions>& cluster, std::optional<EtcdAccess> etcd);

    // nullptr: there is none.
    [[nodiscard]] FleetBoard* board() noexcept { return board_ ? &*board_ : nullptr; }
    // Goes on with what lies on the disk of it.
    [[nodiscard]] Result<Done> join(FleetFollower::Box box);

private:
    std::optional<EtcdAccess> etcd_;
    std::optional<FleetBoard> board_;
    std::unique_ptr<FleetThreads> threads_;
};

}  // namespace sluice
