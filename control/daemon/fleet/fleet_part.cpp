#include "control/daemon/fleet/fleet_part.hpp"

#include <utility>

namespace sluice {

Result<std::optional<EtcdAccess>> open_fleet(const std::optional<ClusterOptions>& cluster) {
    if (!cluster || !cluster->etcd) {
        return std::optional<EtcdAccess>{};
    }
    Result<EtcdAccess> access = open_etcd(*cluster->etcd, "");
    return access ? Result<std::optional<EtcdAccess>>{*std::move(access)} : access.error();
}

FleetPart::FleetPart(const std::optional<ClusterOptions>& cluster, std::optional<EtcdAccess> etcd)
    : etcd_{std::move(etcd)} {
    if (etcd_) {
        board_.emplace(*cluster);
    }
}

Result<Done> FleetPart::join(FleetFollower::Box box) {
    if (!etcd_) {
        return Done{};
    }
    Result<FleetState> state = load_fleet_state(box.state_dir, board_->options().name);
    if (!state) {
        return state.error();
    }
    if (const Result<Done> done = save_fleet_state(box.state_dir, *state); !done) {
        return done.error();
    }
    threads_ = std::make_unique<FleetThreads>(*etcd_, *board_, std::move(box), *std::move(state));
    return Done{};
}

}  // namespace sluice
