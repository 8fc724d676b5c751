#pragma once
#include "control/daemon/keeper/dataplane_sync.hpp"
#include "control/daemon/keeper/live_rules.hpp"

#include <optional>

namespace sluice {

// The way back: a set on trial goes again unless it is confirmed, and rollback undoes what was
// kept.
class RuleTrials {
public:
    RuleTrials(LiveRules& rules, DataplaneSync& sync) noexcept : rules_{rules}, sync_{sync} {}

    // First the dataplane keeps it, then the disk: a death in between leaves a trial that ends, and
    // then brings the dataplane the old set.
    [[nodiscard]] RuleChange confirm();
    // Ends a trial; without one, goes back to the set that was kept before.
    [[nodiscard]] RuleChange rollback(uid_t from);
    // To be called often: ends a trial whose time is over. False: the dataplane has not taken the
    // old set, and is worth another meeting.
    [[nodiscard]] bool keep_deadline();

private:
    // The set that a rollback leads to.
    struct Return {
        StoredRules rules;
        std::optional<History::Former>
            former{};  // its place; nullopt: it is the one before a trial
    };
    [[nodiscard]] Result<Return> way_back(uid_t from) const;
    [[nodiscard]] RuleChange go_back(Return back, Compiled compiled);
    [[nodiscard]] RuleChange give_up_trial(StoredRules old, Compiled compiled);

    LiveRules& rules_;
    DataplaneSync& sync_;
};

}  // namespace sluice
