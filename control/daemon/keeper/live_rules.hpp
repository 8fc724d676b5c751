#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/fair_turns.hpp"
#include "control/daemon/keeper/applied_rules.hpp"
#include "control/daemon/keeper/compile_tries.hpp"
#include "control/daemon/keeper/revert_log.hpp"
#include "control/daemon/keeper/rule_board.hpp"
#include "lib/rules/tenant_options.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace sluice {

// How a set is to be put in force.
struct PushTerms {
    bool force = false;     // also when no rule in it is on
    bool strict = false;    // not when there is a warning
    bool forgive = false;   // what keys owe beyond its numbers; on trial, once it is confirmed
    bool remember = false;  // the one before goes into the history
    std::optional<std::chrono::nanoseconds> confirm{};  // on trial, from now
    std::optional<TrialEnd> end{};                      // on trial, until then
    std::optional<std::string> in_place_of{};           // not when another set is in force
    std::string call{};      // what brings it, for the history; empty: as before
    bool of_tenant = false;  // a tenant's rules alone are others: operators know the set as before
};

// The dataplane's refusal of a set or of its confirmation; nullopt: it runs this generation.
[[nodiscard]] std::optional<Refusal> send_rules(DataplaneLink& link, const Request& request,
                                                std::uint64_t generation);

// The rules in force and the one way to change them: a set is prepared on the disk, sent, and takes
// the place of the old one, in this order, so that a failure leaves everything as it was.
//
// Changes are made one at a time, with `changing` held. Compiling takes long and is done without
// it; what was compiled counts only if the rules in force are still those it was made of.
struct LiveRules {
    using Edit = std::function<std::optional<Refusal>(StoredRules&)>;

    LiveRules(Store store, DataplaneLink& link_to, Audit& to, BootClock clock, WallClock now)
        : link{link_to},
          audit{to},
          applied{std::move(store), std::move(clock), std::move(now)},
          reverts{to} {}

    // Compiles for now and for the box that is connected.
    [[nodiscard]] Compiled compile_now(StoredRules& rules,
                                       const UnknownWebhook& webhooks = {}) const {
        return compile_at(rules, applied.now(), link.rss_mapping(), webhooks);
    }

    // With `changing` held.
    [[nodiscard]] RuleChange push(StoredRules next, Compiled compiled, const PushTerms& terms);
    // A set made of the one in force: on trial it stays on trial, until the same instant.
    [[nodiscard]] RuleChange push_edited(StoredRules next, Compiled compiled,
                                         bool of_tenant = false) {
        return push(std::move(next), std::move(compiled),
                    {.force = true, .end = applied.trial_end(), .of_tenant = of_tenant});
    }
    // The refusal where a generation or tag is to be in force and is not; nullopt: none.
    [[nodiscard]] std::optional<Refusal> not_in_force(
        const std::optional<std::string>& wanted) const;
    // Ends the trial: from here on the kept set is the one to come back to, whatever happens.
    void end_trial(const std::string& why);
    // Writes to the audit what becomes of the modes that were set on the trial, as it goes back.
    void record_modes_on_trial();

    // Writes the rules that have ended in `after`, and had not in `before`, to the audit.
    void record_ends(const StoredRules& before, const StoredRules& after);

    // Takes `changing` itself. Puts a copy of the set in force, as edited by `from`, in its place.
    // `edit` is called with it held; a change that it refuses is not made.
    // Where other rules come meanwhile it is made of those, and ends nevertheless (CompileTries).
    [[nodiscard]] RuleChange change(const Author& from, const Edit& edit);
    // A change of one tenant's rules alone.
    struct TenantEdit {
        std::string tenant;
        bool is_needed = true;  // it is refused where they cannot be a part of the set
        bool by_operator = false;
    };
    // The same, by nobody who is recorded. `of`: nullptr: the operator's.
    [[nodiscard]] RuleChange change_unstamped(const Edit& edit, const TenantEdit* of = nullptr);

    DataplaneLink& link;
    Audit& audit;
    std::mutex editing;  // single rules, one at a time; taken before `changing`
    // Of tenants' rules, one tenant's at a time. The pauses between let an operator's change
    // through that had to begin anew for the one before, however many tenants change theirs.
    FairTurns tenant_turns{{.another = FairTurns::Another::Refused,
                            .most_waiting = kMostTenants,
                            .patience = std::chrono::seconds{5},
                            .pause = 3}};
    std::mutex changing;  // of what stands below
    AppliedRules applied;
    // True: the kept set compiles to another than it did when a dataplane took it, since
    // sluice.yaml has other tenants now.
    bool is_behind = false;
    RuleBoard board;
    RevertLog reverts;

private:
    // nullopt: other rules came meanwhile, and nothing was changed.
    [[nodiscard]] std::optional<RuleChange> try_change(const Edit& edit, const TenantEdit* of,
                                                       CompileTries& tries);
};

}  // namespace sluice
