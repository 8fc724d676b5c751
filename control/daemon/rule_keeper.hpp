#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/dynamic_count.hpp"
#include "control/daemon/keeper/dataplane_sync.hpp"
#include "control/daemon/keeper/list_reload.hpp"
#include "control/daemon/keeper/live_rules.hpp"
#include "control/daemon/keeper/rule_applier.hpp"
#include "control/daemon/keeper/rule_drafts.hpp"
#include "control/daemon/keeper/rule_edits.hpp"
#include "control/daemon/keeper/rule_ends.hpp"
#include "control/daemon/keeper/rule_trials.hpp"
#include "control/daemon/keeper/runtime_changes.hpp"
#include "control/daemon/keeper/tenant_changes.hpp"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

// The life of the rules: text, check, compile, send, keep. Any error changes nothing.
//
//          apply              apply --confirm             confirm
//   kept ---------> kept    kept -----------------> trial ---------> kept (that of the trial)
//                                                     |
//            deadline, rollback, reboot, a dataplane  |
//            that came back without it                `------------> kept (the old)
//
// What is kept lies on the disk and comes back after any death. A trial is on the disk too, with
// its deadline, and goes on only while the dataplane runs it: a death in the middle of a change
// leaves either the old set or a trial whose deadline is known.
//
// This class wires the parts, and each part documents its calls.
class RuleKeeper {
public:
    static std::int64_t wall_clock() { return std::time(nullptr); }

    RuleKeeper(Store store, DataplaneLink& link, Audit& audit, BootClock clock = boot_time,
               WallClock now = wall_clock);

    // Never waits for a change that is under way.
    [[nodiscard]] std::shared_ptr<const RuleView> view() const { return rules_.board.view(); }

    // Rule files: rule_applier.hpp.
    [[nodiscard]] RuleChange apply(RuleFile file) { return applier_.apply(std::move(file)); }
    [[nodiscard]] std::optional<Compiled> preview(RuleFile file) {
        return applier_.preview(std::move(file));
    }

    // Modes and single keys: runtime_changes.hpp.
    [[nodiscard]] RuleChange set_mode(const std::string& rule, Mode mode, const Author& from) {
        return sluice::set_mode(rules_, rule, mode, from);
    }
    [[nodiscard]] RuleChange set_keys(KeySettings settings, const Author& from) {
        return sluice::set_keys(rules_, std::move(settings), from);
    }
    [[nodiscard]] RuleChange set_key(KeySetting setting, const Author& from) {
        return set_keys({std::move(setting)}, from);
    }
    [[nodiscard]] RuleChange unset_keys(const std::vector<SettingChoice>& choices,
                                        const Author& from) {
        return sluice::unset_keys(rules_, choices, from);
    }
    [[nodiscard]] RuleChange unset_key(const SettingChoice& choice, const Author& from) {
        return unset_keys({choice}, from);
    }

    // Refused numbers for rules with `dynamic`.
    [[nodiscard]] RefusedSets& refused_sets() { return refused_sets_; }
    // Numbers that are set through `dynamic` and hold now, whether or not those that have ended
    // have been forgotten.
    [[nodiscard]] DynamicCount dynamic_count() const {
        const std::shared_ptr<const RuleView> shown = view();
        return count_dynamic(shown->keys, shown->rules, rules_.applied.now());
    }

    // The way back: rule_trials.hpp.
    [[nodiscard]] RuleChange confirm(const std::optional<std::string>& wanted = std::nullopt) {
        return trials_.confirm(wanted);
    }
    [[nodiscard]] RuleChange rollback(const Rollback& rollback) {
        return trials_.rollback(rollback);
    }
    [[nodiscard]] RuleChange rollback(const Author& from) {
        return rollback(Rollback{.from = from});
    }
    [[nodiscard]] std::optional<std::variant<Compiled, Refusal>> preview(const Rollback& rollback) {
        return trials_.preview(rollback);
    }
    [[nodiscard]] std::vector<History::Note> history() const {
        return rules_.applied.history().notes();
    }

    // Single rules of the set in force: rule_edits.hpp.
    [[nodiscard]] RuleChange edit(const RuleEdit& edit) { return edit_rule(rules_, edit); }
    // Drafts of rules: rule_drafts.hpp.
    [[nodiscard]] std::variant<CheckedDraft, Refusal> check(const RuleDraft& draft) {
        return drafts_.check(draft);
    }
    [[nodiscard]] bool keep_deadline() { return trials_.keep_deadline(); }

    // Changes by time and files: rule_ends.hpp, list_reload.hpp.
    void end_rules() {
        ends_.tick();
        tenant_trials_.tick();
    }
    [[nodiscard]] std::optional<RuleChange> reload_lists() { return sluice::reload_lists(rules_); }

    // Rules of tenants: tenant_changes.hpp.
    [[nodiscard]] RuleChange apply_tenant(const TenantApply& apply) {
        return sluice::apply_tenant(rules_, apply);
    }
    [[nodiscard]] CheckedTenant check_tenant(const TenantApply& apply) const {
        return sluice::check_tenant(rules_, apply);
    }
    [[nodiscard]] RuleChange confirm_tenant(const TenantTurn& turn) {
        return sluice::confirm_tenant(rules_, turn);
    }
    [[nodiscard]] RuleChange rollback_tenant(const TenantTurn& turn) {
        return sluice::rollback_tenant(rules_, turn);
    }
    [[nodiscard]] RuleChange forget_tenant(const TenantTurn& turn) {
        return sluice::forget_tenant(rules_, turn);
    }

    // Agreeing with a dataplane: dataplane_sync.hpp.
    [[nodiscard]] bool meet(const Welcome& dataplane) { return sync_.meet(dataplane); }
    [[nodiscard]] bool follow_box() { return sync_.follow_box(); }

private:
    void load();

    LiveRules rules_;
    RuleApplier applier_{rules_};
    RuleDrafts drafts_{rules_};
    RuleEnds ends_{rules_};
    TenantTrials tenant_trials_{rules_};
    DataplaneSync sync_{rules_};
    RuleTrials trials_{rules_, sync_};
    RefusedSets refused_sets_;
};

}  // namespace sluice
