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
// no two boxes have one, no two boxes have one name, and none has a place beyond M. What it cannot
// keep it says; the rules of the box do not depend on it.
class FleetMember {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t kLeaseSeconds = 10;
    static constexpr std::chrono::seconds kKeepAlive{3};
    static constexpr std::chrono::seconds kRejoin{1};

    // `slot`: that it had before; it takes this one first.
    FleetMember(FleetStore store, FleetBoard& board, std::string incarnation,
                std::optional<std::size_t> slot)
        : store_{std::move(store)},
          board_{board},
          incarnation_{std::move(incarnation)},
          slot_{slot} {}

    // To be called often, and whenever the record has changed.
    void tick(Clock::time_point now);
    // Gives the slot back.
    void leave();
    [[nodiscard]] std::optional<std::size_t> slot() const noexcept { return slot_; }

private:
    struct Seen {
        std::vector<EtcdKey> nodes;
        std::optional<std::string> holder;  // incarnation of who has this name
        std::optional<ClusterRecord> cluster;
        bool is_drained = false;
    };
    [[nodiscard]] Result<Seen> look();
    [[nodiscard]] Result<Done> join();
    [[nodiscard]] Result<bool> take(std::size_t slot, const Seen& seen);
    [[nodiscard]] std::vector<std::size_t> open_slots(const Seen& seen) const;
    [[nodiscard]] std::string why_refused(const Seen& seen) const;
    [[nodiscard]] Result<Done> publish();
    [[nodiscard]] NodeRecord record() const;
    void refuse(Membership membership, const std::string& why);
    void note_failure(const Error& error);

    FleetStore store_;
    FleetBoard& board_;
    std::string incarnation_;
    std::optional<std::size_t> slot_;
    std::int64_t lease_ = 0;       // 0: no member
    std::uint64_t published_ = 0;  // the edition that etcd has
    Clock::time_point alive_at_{};
    Clock::time_point join_at_{};
};

}  // namespace sluice
