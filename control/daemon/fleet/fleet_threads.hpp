#pragma once
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_follower.hpp"
#include "control/daemon/fleet/fleet_member.hpp"
#include "control/fleet/etcd_access.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace sluice {

// The box's part in its cluster, in threads of its own: one keeps the slot, one follows the rules,
// however long these take to compile, and one waits for hints.
class FleetThreads {
public:
    FleetThreads(const EtcdAccess& etcd, FleetBoard& board, FleetFollower::Box box,
                 FleetState state);

private:
    void keep_member(const std::stop_token& stop);
    void follow_rules(const std::stop_token& stop);
    void watch(const std::stop_token& stop);
    void hint();

    EtcdAccess etcd_;
    FleetBoard& board_;
    FleetMember member_;
    FleetFollower follower_;
    std::mutex mutex_;
    std::condition_variable_any hinted_;
    bool is_hinted_ = false;
    std::jthread member_thread_;
    std::jthread follower_thread_;
    std::jthread watch_thread_;
};

}  // namespace sluice
