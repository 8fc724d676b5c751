#pragma once
#include "control/daemon/audit.hpp"
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_state.hpp"
#include "control/daemon/rule_keeper.hpp"
#include "control/fleet/fleet_store.hpp"
#include "control/fleet/set_archive.hpp"
#include "lib/base/result.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sluice {

// Brings the box to the rules that its cluster has, and nowhere else:
//
//   a rollout comes      -> staged: fetched, compiled, a verdict told
//   it names this box    -> on trial, with a timer of the box's own
//   it becomes the head  -> confirmed
//   it goes otherwise    -> the rules of before come back
//   a newer head comes   -> applied for good
//
// A set that could not be fetched, or not be tried while the dataplane was away, has no verdict yet
// and is staged again. An etcd that is away, empty or older than what the box has changes nothing.
class FleetFollower {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kRead{5};    // etcd, without a hint
    static constexpr std::chrono::seconds kRetry{30};  // a set that was not taken
    static constexpr std::chrono::seconds kRestage{1};
    static constexpr std::chrono::seconds kStoreReading{10};

    struct Box {
        RuleKeeper& rules;
        DataplaneLink& link;
        Audit& audit;
        std::string state_dir;
    };
    FleetFollower(FleetStore store, FleetBoard& board, Box box, FleetDisk& disk)
        : store_{std::move(store)},
          board_{board},
          box_{std::move(box)},
          disk_{disk},
          state_{disk.state()} {}

    // To be called often; `hinted`: something may have changed in etcd.
    void tick(Clock::time_point now, bool hinted);

private:
    void follow(const FleetView& view, Clock::time_point now);
    void compare_with(const FleetView& view, Clock::time_point now);
    void stage(const Rollout& rollout, Clock::time_point now);
    [[nodiscard]] StagedSet judge(const Rollout& rollout);
    [[nodiscard]] Result<RuleFile> fetch(const HeadSet& set);
    void try_rollout(const Rollout& rollout);
    void end_trial(const FleetView& view);
    void adopt(const HeadSet& set, Clock::time_point now);
    [[nodiscard]] bool runs_trial();
    [[nodiscard]] std::string text_in_force();
    void record(const std::string& call, const std::string& by, const RuleChange& change);
    void save();
    void report(const std::string& error);
    void read_dataplane(Clock::time_point now);
    void update_record();
    [[nodiscard]] bool has_own_rules();

    FleetStore store_;
    FleetBoard& board_;
    Box box_;
    FleetDisk& disk_;
    FleetState state_;  // its rules and trial; other threads change the rest on the disk
    StagedSet staged_;
    std::string ended_;  // the rollout whose trial has ended here
    std::string error_;
    bool has_reported_ = false;  // since the view that is followed was read
    Clock::time_point read_at_{};
    Clock::time_point retry_at_{};
    Clock::time_point dataplane_read_at_{};
    StoreReading store_reading_;
    bool is_panic_ = false;
    std::uint64_t panic_read_ = 0;  // the number that had been followed when it was read
    bool was_connected_ = false;    // to the dataplane
    std::uint64_t failed_ = 0;      // the generation that could not be in force last
    HeadSet refused_;               // the head that was not taken
    std::shared_ptr<const RuleView> summed_of_;  // and the sum of its text
    std::string sum_;
};

}  // namespace sluice
