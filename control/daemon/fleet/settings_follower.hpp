#pragma once
#include "control/daemon/audit.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/fleet_settings.hpp"
#include "control/daemon/rule_keeper.hpp"
#include "control/fleet/fleet_store.hpp"

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace sluice {

// Brings the cluster's settings of single keys to the box, and does its acts, in a thread of its
// own:
//
//   a setting that is new        -> set here, as soon as the box has its rule
//   a setting that is gone       -> unset here, unless people have set something else on the box
//   an act that is new           -> done once: it is noted on the disk before it is done
//
// An etcd that is away, empty or older than what the box has followed changes nothing. What people
// change on the box alone stays until the cluster's setting is changed.
class SettingsFollower {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kRead{5};   // etcd, without a hint
    static constexpr std::chrono::seconds kAgain{1};  // where the dataplane or the disk was away

    struct Box {
        RuleKeeper& rules;
        DataplaneLink& link;
        Audit& audit;
        std::string state_dir;
    };
    SettingsFollower(FleetStore store, FleetBoard& board, Box box);

    // To be called often; `hinted`: something may have changed in etcd.
    void tick(Clock::time_point now, bool hinted);

private:
    void read();
    // False: the disk does not take it.
    [[nodiscard]] bool take(FleetSettings next);
    void unset(const std::vector<FleetSetting>& gone);
    void settle();
    [[nodiscard]] bool set(const std::vector<FleetSetting>& group);
    void act(const FleetAct& act);
    [[nodiscard]] bool save(const FleetSettings& settings, const std::set<std::string>& set_here);
    void load();
    void tell();
    [[nodiscard]] std::string name_of(const KeySetting& setting) const {
        return key_of_setting(store_.keys(), setting);
    }

    FleetStore store_;
    FleetBoard& board_;
    Box box_;
    FleetSettings followed_{};          // without its acts
    std::set<std::string> set_here_{};  // of these, by name_of()
    std::set<std::string> refused_{};   // of these, by the rules of the generation `tried_`
    std::uint64_t tried_ = 0;
    std::uint64_t seen_ = 0;  // the generation with which nothing was left to do
    bool is_new_ = true;      // the box has read nothing yet, on which acts could follow
    std::string error_;       // of etcd
    std::string refusal_;     // of the box, of the latest setting that it has not
    Clock::time_point read_at_{};
    Clock::time_point settle_at_{};
};

}  // namespace sluice
