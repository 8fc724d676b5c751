#pragma once
#include "control/daemon/audit.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_state.hpp"
#include "control/fleet/fleet_store.hpp"

#include <chrono>
#include <string>

namespace sluice {

// Follows `panic --cluster` in a thread of its own, by a key of its own: no set that is downloaded
// or compiled delays it, and no other record that cannot be read.
class FleetPanic {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kRead{5};   // etcd, without a hint
    static constexpr std::chrono::seconds kAgain{1};  // where the dataplane was away

    struct Box {
        DataplaneLink& link;
        Audit& audit;
    };
    FleetPanic(FleetStore store, FleetBoard& board, FleetDisk& disk, Box box)
        : store_{std::move(store)}, board_{board}, disk_{disk}, box_{box} {}

    // To be called often; `hinted`: something may have changed in etcd.
    void tick(Clock::time_point now, bool hinted);

private:
    [[nodiscard]] bool follow(const PanicRecord& panic);
    void report(const std::string& error);

    FleetStore store_;
    FleetBoard& board_;
    FleetDisk& disk_;
    Box box_;
    Clock::time_point read_at_{};
    std::string error_;
};

}  // namespace sluice
