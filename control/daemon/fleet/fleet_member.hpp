#pragma once
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_state.hpp"
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Keeps one of the cluster's slots for the box, by compare-and-set and under a lease: of M slots,
// no two boxes have one, no two boxes have one name, and none has a place beyond M. A slot that
// cannot be kept is reported; the rules of the box do not depend on it.
//
// The record is written when it has changed. In between, a transaction without writes, which makes
// no revision of etcd, shows whether slot and name are still the box's.
class FleetMember {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t kLeaseSeconds = 10;
    static constexpr std::chrono::seconds kKeepAlive{3};
    static constexpr std::chrono::seconds kRejoin{1};

    // Takes the slot that the box had before first. `secret`: digest of the cluster's hash secret.
    FleetMember(FleetStore store, FleetBoard& board, const FleetState& state,
                std::string secret = "")
        : store_{std::move(store)},
          board_{board},
          incarnation_{state.incarnation},
          secret_{std::move(secret)},
          slot_{state.slot} {}

    // To be called often, and whenever the record has changed.
    void tick(Clock::time_point now);
    // Gives the slot back.
    void leave();
    [[nodiscard]] std::optional<std::size_t> slot() const noexcept { return slot_; }

private:
    struct Scan {
        std::vector<EtcdKey> nodes;
        std::optional<std::string> holder;  // incarnation of who has this name
        std::optional<ClusterRecord> cluster;
        bool is_drained = false;
    };
    [[nodiscard]] Result<Scan> scan();
    [[nodiscard]] Result<Done> join();
    [[nodiscard]] Result<bool> take(std::size_t slot, const Scan& scan);
    [[nodiscard]] std::vector<std::size_t> open_slots(const Scan& scan) const;
    [[nodiscard]] std::string why_refused(const Scan& scan) const;
    [[nodiscard]] Result<Done> publish();
    [[nodiscard]] NodeRecord record() const;
    void refuse(Membership membership, const std::string& why);
    void note_failure(const Error& error);

    FleetStore store_;
    FleetBoard& board_;
    std::string incarnation_;
    std::string secret_;
    std::optional<std::size_t> slot_;
    std::int64_t lease_ = 0;       // 0: no member
    std::uint64_t published_ = 0;  // the edition that etcd has
    bool is_displaced_ = false;    // another box has taken the name by a copy of this box's state
    Clock::time_point alive_at_{};
    Clock::time_point join_at_{};
};

}  // namespace sluice
