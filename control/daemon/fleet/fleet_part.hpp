#pragma once
#include "control/daemon/fleet/fleet_access.hpp"
#include "control/daemon/fleet/fleet_threads.hpp"
#include "control/daemon/fleet/settings_desk.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <memory>
#include <optional>

namespace sluice {

struct Services;

// The box's part in its cluster, or none.
class FleetPart {
public:
    FleetPart(const std::optional<ClusterOptions>& cluster, std::optional<FleetAccess> access);

    // nullptr: there is none.
    [[nodiscard]] FleetBoard* board() noexcept { return board_ ? &*board_ : nullptr; }
    // Gives the API its parts of the fleet.
    void offer(Services& services) noexcept;
    // Goes on with what lies on the disk of it.
    [[nodiscard]] Result<Done> join(FleetFollower::Box box);

private:
    std::optional<FleetAccess> access_;
    std::optional<FleetBoard> board_;
    std::optional<SettingsDesk> desk_;
    std::unique_ptr<FleetThreads> threads_;
};

}  // namespace sluice
