#pragma once
#include "control/daemon/cluster/box_watch.hpp"
#include "control/daemon/cluster/cluster_log.hpp"
#include "control/daemon/cluster/fleet_reading.hpp"
#include "control/daemon/cluster/store_watch.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/fleet/etcd_access.hpp"
#include "lib/rules/cluster_options.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace sluice {

// The events and boxes of the cluster, for those who look at this box. Two threads of its own: one
// looks at the dataplane and the box's standing, one asks etcd, which may take long.
class ClusterPart {
public:
    static constexpr std::chrono::milliseconds kLook{500};
    static constexpr std::chrono::seconds kReadEtcd{3};

    // `etcd`: nullopt: the cluster has none; `board` is nullptr then.
    ClusterPart(const std::optional<ClusterOptions>& cluster, std::optional<EtcdAccess> etcd,
                DataplaneLink& link, const FleetBoard* board);

    // nullptr: the box is in no cluster.
    [[nodiscard]] ClusterPart* if_any() noexcept { return is_any_ ? this : nullptr; }
    [[nodiscard]] const ClusterOptions& options() const noexcept { return options_; }
    [[nodiscard]] ClusterLog& log() noexcept { return log_; }
    // nullptr: the box is in no cluster.
    [[nodiscard]] const ClusterLog* news() const noexcept { return is_any_ ? &log_ : nullptr; }
    // nullptr: the cluster has no etcd.
    [[nodiscard]] std::shared_ptr<const FleetReading> reading() const;
    // Begins its threads, where there is a cluster.
    void begin();

private:
    void look();
    void read_etcd(FleetStore& store);

    const bool is_any_;
    const ClusterOptions options_;
    const std::optional<EtcdAccess> etcd_;
    DataplaneLink& link_;
    const FleetBoard* board_;
    ClusterLog log_;
    StoreWatch store_watch_{log_};
    mutable std::mutex mutex_;
    std::shared_ptr<const FleetReading> reading_;  // behind mutex_
    BoxWatch box_watch_;
    std::shared_ptr<const FleetReading> seen_;  // by box_watch_
    std::jthread looks_;
    std::jthread reads_;
};

}  // namespace sluice
