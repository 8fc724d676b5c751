#pragma once
#include "control/daemon/cluster/cluster_log.hpp"
#include "control/daemon/cluster/fleet_reading.hpp"
#include "control/daemon/cluster/paced_state.hpp"
#include "control/daemon/fleet/fleet_board.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace sluice {

// Tells the log what has become of the box's place in its cluster and of the rules that the cluster
// has brought, by the difference of its standing from that which was seen last.
class BoxWatch {
public:
    using Clock = std::chrono::steady_clock;

    // `node`: the box's own name.
    BoxWatch(ClusterLog& log, std::string node) : log_{log}, node_{std::move(node)} {}

    // `passes`: whether the box forwards everything; nullopt: nobody can say.
    void see(const FleetStatus& status, std::optional<bool> passes, Clock::time_point now,
             std::int64_t utc_ns);
    // The boxes that etcd knows.
    void see(const FleetReading& reading, std::int64_t utc_ns);

private:
    void see_place(const FleetStatus& status, Clock::time_point now, std::int64_t utc_ns);
    void see_rollout(const NodeRecord& before, const NodeRecord& record, std::int64_t utc_ns);

    ClusterLog& log_;
    std::string node_;
    PacedState<Membership> place_{Membership::Joining};
    Membership place_before_ = Membership::Joining;  // as it was told
    std::optional<NodeRecord> before_;
    PacedState<bool> is_detached_{false};
    std::optional<std::set<std::string>> members_;  // the others
};

}  // namespace sluice
