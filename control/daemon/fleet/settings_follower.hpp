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
#include <span>
#include <string>
#include <vector>

namespace sluice {

// True where the box has the setting, or may have it again: rules of a trial may have none of its
// settings, which come back with the rules before them.
[[nodiscard]] inline bool may_be_set(const RuleView& view, const KeySetting& setting) {
    return view.unconfirmed || is_set(view.keys, setting);
}

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
    static constexpr std::chrono::seconds kUnsetAgain{30};  // where the rules refuse that it goes

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
    [[nodiscard]] bool take(FleetSettingsView view);
    void unset();
    // True where there were any: `to_unset_` that are set here no more.
    bool forget_unset(const RuleView& view) {
        return std::erase_if(to_unset_, [&](const FleetSetting& one) {
                   return !may_be_set(view, one.setting);
               }) != 0;
    }
    void settle();
    // False: not now.
    [[nodiscard]] bool set(std::span<const FleetSetting> group);
    [[nodiscard]] bool set_halves(std::span<const FleetSetting> group);
    void tell_set(std::span<const FleetSetting> group, const RuleChange& change);
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
    FleetSettings followed_{};              // without its acts
    std::set<std::string> set_here_{};      // of these, by name_of()
    std::vector<FleetSetting> to_unset_{};  // gone from the cluster, and not from this box yet
    std::set<std::string> refused_{};       // of these, by the rules of the generation `tried_`
    std::uint64_t tried_ = 0;
    std::uint64_t seen_ = 0;  // the generation with which nothing was left to do
    bool is_new_ = true;      // the box has read nothing yet, on which acts could follow
    std::string error_;       // of etcd
    std::string refusal_;     // of the box, of the latest setting that it has not
    std::string not_unset_;   // of the box, why `to_unset_` stays
    Clock::time_point read_at_{};
    Clock::time_point settle_at_{};
    Clock::time_point unset_at_{};
    Clock::time_point now_{};
};

}  // namespace sluice
