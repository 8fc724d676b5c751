#pragma once
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_follower.hpp"
#include "control/daemon/fleet/fleet_member.hpp"
#include "control/daemon/fleet/fleet_panic.hpp"
#include "control/daemon/fleet/fleet_state.hpp"
#include "control/daemon/fleet/settings_follower.hpp"
#include "control/fleet/etcd_access.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace sluice {

// The box's part in its cluster, in threads of its own: one keeps the slot, one follows the rules,
// however long these take to compile, one follows the panic switch, one the settings of single
// keys, and one waits for hints.
class FleetThreads {
public:
    FleetThreads(const FleetAccess& access, FleetBoard& board, FleetFollower::Box box,
                 FleetState state);
    FleetThreads(const FleetThreads&) = delete;
    FleetThreads& operator=(const FleetThreads&) = delete;
    // Ends calls of etcd that are under way.
    ~FleetThreads();

private:
    // The hints that one thread has seen.
    struct Hints {
        std::uint64_t seen = 0;
    };

    void keep_member(const std::stop_token& stop);
    void follow_rules(const std::stop_token& stop);
    void follow_panic(const std::stop_token& stop);
    void follow_settings(const std::stop_token& stop);
    void watch(const std::stop_token& stop);
    void hint();
    [[nodiscard]] FleetStore connect();
    // True: a hint came.
    [[nodiscard]] bool wait(const std::stop_token& stop, Hints& hints);

    std::stop_source ending_;
    EtcdAccess etcd_;
    FleetBoard& board_;
    FleetDisk disk_;
    FleetMember member_;
    FleetFollower follower_;
    FleetPanic panic_;
    SettingsFollower settings_;
    std::mutex mutex_;
    std::condition_variable_any hinted_;
    std::uint64_t hints_ = 0;
    std::jthread member_thread_;
    std::jthread follower_thread_;
    std::jthread panic_thread_;
    std::jthread settings_thread_;
    std::jthread watch_thread_;
};

}  // namespace sluice
