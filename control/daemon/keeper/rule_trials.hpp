#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/fair_turns.hpp"
#include "control/daemon/keeper/dataplane_sync.hpp"
#include "control/daemon/keeper/live_rules.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace sluice {

// A rollback request.
struct Rollback {
    Author from{};
    std::optional<std::uint64_t> number{};              // of the history; nullopt: the newest
    std::optional<std::chrono::nanoseconds> confirm{};  // with a number: on trial
    std::optional<std::string> in_place_of{};           // not when another set is in force
    bool is_of_trial = false;                           // not when none is on trial any more
};

// The way back: a set on trial goes again unless it is confirmed, and rollback undoes what was
// kept.
class RuleTrials {
public:
    RuleTrials(LiveRules& rules, DataplaneSync& sync) noexcept : rules_{rules}, sync_{sync} {}

    // First the dataplane keeps it, then the disk: a death in between leaves a trial that ends, and
    // then brings the dataplane the old set. `wanted`: not when another set is in force.
    [[nodiscard]] RuleChange confirm(const std::optional<std::string>& wanted);
    // Ends a trial; without one, goes back to the set that was kept before. With a number, puts
    // that set of the history in force as apply() would, and the present one goes into the history.
    [[nodiscard]] RuleChange rollback(const Rollback& rollback);
    // Compiles what rollback() would put in force now, or says why there is none. One is compiled
    // at a time; nullopt: a newer one took its place.
    [[nodiscard]] std::optional<std::variant<Compiled, Refusal>> preview(const Rollback& rollback);
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
    [[nodiscard]] std::variant<Return, Refusal> way_back(const Rollback& rollback) const;
    [[nodiscard]] Result<Return> newest_return() const;
    void renew(Return& back, const Author& from) const;
    [[nodiscard]] RuleChange go_back(Return back, Compiled compiled);
    [[nodiscard]] RuleChange go_to(Return back, Compiled compiled, const Rollback& rollback);
    [[nodiscard]] RuleChange give_up_trial(StoredRules old, Compiled compiled);

    LiveRules& rules_;
    DataplaneSync& sync_;
    FairTurns previews_;
};

}  // namespace sluice
