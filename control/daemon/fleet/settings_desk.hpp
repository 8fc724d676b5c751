#pragma once
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/settings_change.hpp"
#include "control/daemon/pace.hpp"
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace sluice {

struct FleetChanged {
    std::uint64_t number = 0;  // 0: there was nothing to change
    std::size_t left = 0;      // acts of an unban for which there was no room: they are not done
    bool is_unknown = false;   // etcd has not said whether it is done
};

// Writes changes of operators into the cluster's etcd, from where all boxes take them. Of several
// changes at once each is whole, and the last one counts. An etcd that has lost what the box had
// followed is told it again. Bounded: by number, and by a pace, of tenants apart.
class SettingsDesk {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr unsigned kAtOnce = 100;
    static constexpr std::chrono::milliseconds kEvery{100};
    static constexpr unsigned kTenantsAtOnce = 20;
    static constexpr std::chrono::milliseconds kTenantsEvery{2'000};

    // `connect`: called for each change.
    SettingsDesk(const FleetBoard& board, std::function<FleetStore()> connect)
        : board_{board}, connect_{std::move(connect)} {}

    // Errc::TooMany: there is no room for it; Errc::Busy: later. After an Error nothing is changed.
    [[nodiscard]] Result<FleetChanged> change(const FleetSettingsChange& change);
    // Changes for which there was no room, or that came too fast.
    [[nodiscard]] std::uint64_t refused() const {
        const std::lock_guard lock{counted_};
        return refused_;
    }

private:
    void count_refused() {
        const std::lock_guard lock{counted_};
        ++refused_;
    }
    [[nodiscard]] Result<FleetChanged> write(FleetStore& store, const FleetSettingsChange& change);

    const FleetBoard& board_;
    std::function<FleetStore()> connect_;
    std::mutex mutex_;  // of one change at a time, and of its pace
    Pace pace_{kAtOnce, kEvery};
    Pace tenants_pace_{kTenantsAtOnce, kTenantsEvery};
    mutable std::mutex counted_;  // of `refused_`
    std::uint64_t refused_ = 0;
};

}  // namespace sluice
