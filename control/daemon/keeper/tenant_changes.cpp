#include "control/daemon/keeper/tenant_changes.hpp"

#include "control/daemon/dynamic_count.hpp"
#include "control/daemon/kept_file.hpp"
#include "control/daemon/tenant_compile.hpp"
#include "lib/rules/tenant_name.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

constexpr std::int64_t kRetryTakingBack = 5;  // s

Refusal unknown_tenant(const std::string& name) {
    return {Refusal::Kind::NoSuchTenant, "sluice.yaml has no tenant " + name, {}};
}

// The rules of a tenant; nullptr: it has none.
const TenantRules* find_rules(const StoredRules& rules, const std::string& tenant) {
    const auto found = rules.tenants.find(tenant);
    return found == rules.tenants.end() ? nullptr : &found->second;
}

std::optional<Refusal> not_the_tenants(const StoredRules& rules, const std::string& tenant,
                                       const std::optional<std::string>& wanted) {
    const TenantRules* own = find_rules(rules, tenant);
    if (!wanted || *wanted == tag_of(own == nullptr ? TenantRules{} : *own)) {
        return std::nullopt;
    }
    return Refusal{
        Refusal::Kind::OthersInForce,
        "other rules of " + tenant + " are in force: look at what has changed, and apply again",
        {}};
}

void forget_modes(StoredRules& rules, const std::string& tenant) {
    std::erase_if(rules.modes, [&](const auto& mode) { return tenant_of(mode.first) == tenant; });
}

// Settings of single keys end with their rules.
void forget_keys(KeySettings& keys, const std::string& tenant,
                 const std::vector<RuleSummary>& rules) {
    std::erase_if(keys, [&](const KeySetting& setting) {
        return tenant_of(setting.rule) == tenant && find_rule(rules, setting.rule) == nullptr;
    });
}

// The text of before takes the place of the present one. A text on trial is forgotten, and the one
// from before it comes back as if there had been no trial; a text that was to stay is brought back
// by a further rollback.
void go_back(StoredRules& rules, const std::string& tenant) {
    TenantRules& own = rules.tenants[tenant];
    const bool was_on_trial = own.end.has_value();
    std::swap(own.text, own.before);
    if (was_on_trial) {
        const std::string before = std::exchange(own.before_trial, {});
        own.before = before.empty() ? own.text : before;  // never to no rules at all
    }
    own.end.reset();
    forget_modes(rules, tenant);
}

std::vector<std::string> over_in(const TenantTexts& tenants, const AppliedRules& applied) {
    std::vector<std::string> over;
    for (const auto& [name, own] : tenants) {
        if (own.end && applied.is_over(*own.end)) {
            over.push_back(name);
        }
    }
    return over;
}

// The text takes the place of the tenant's. On trial another takes its place, and the text that
// was to stay before both is what is gone back to.
void put_text(StoredRules& rules, const TenantApply& apply, const AppliedRules& applied) {
    TenantRules& own = rules.tenants[apply.tenant];
    // A trial of the same text goes back to it too.
    if (!own.end && (apply.confirm || own.text != apply.text)) {
        own.before_trial = std::exchange(own.before, own.text);
    }
    if (!apply.confirm) {
        own.before_trial.clear();
    }
    own.text = apply.text;
    own.end = apply.confirm ? std::optional{applied.end_after(*apply.confirm)} : std::nullopt;
    own.changed_at = applied.now();
    own.changed_by = apply.from;
    forget_modes(rules, apply.tenant);
}

// A change as the tenant is told of it: nothing of others.
RuleChange told(const LiveRules& rules, RuleChange change, const std::string& tenant) {
    const std::shared_ptr<const RuleView> shown = rules.board.view();
    change.warnings.clear();
    change.anywhere.clear();
    change.rules = rules_of_tenant(*shown, tenant);
    change.unconfirmed.reset();
    const auto own = shown->tenants.find(tenant);
    if (own != shown->tenants.end() && own->second.end) {
        change.unconfirmed = Unconfirmed{*own->second.end, 0};
    }
    if (change.refusal && change.refusal->kind == Refusal::Kind::DoesNotCompile) {
        change.refusal->problems.clear();
    }
    return change;
}

// Operators who act for tenants take turns among themselves. Neither they nor the end of a trial
// wait for a tenant's pause: rules that work would go back before it is over.
FairTurns::Asker asker_of(const LiveRules::TenantEdit& of) {
    if (of.by_operator) {
        return {"", true};
    }
    return of.is_needed ? FairTurns::Asker{of.tenant}
                        : FairTurns::Asker{of.tenant + " ends a trial", true};
}

// Changes the tenant's rules; where another change comes between, once more with that.
RuleChange change_tenant(LiveRules& rules, const LiveRules::TenantEdit& of,
                         const LiveRules::Edit& edit) {
    const auto turn = rules.tenant_turns.enter(asker_of(of));
    if (std::holds_alternative<FairTurns::Refused>(turn)) {
        return refused(rules.board.view()->generation,
                       {Refusal::Kind::Busy,
                        "tenants' rules have been changed as often as they may for now; try again "
                        "in a while",
                        {}});
    }
    return told(rules, rules.change_unstamped(edit, &of), of.tenant);
}

// The text alone, and as a part of no set.
std::variant<LoneTenant, Refusal> checked(const LiveRules& rules, const TenantApply& apply) {
    const TenantOptions* tenant = find_tenant(apply.tenant);
    if (tenant == nullptr) {
        return unknown_tenant(apply.tenant);
    }
    LoneTenant alone = compile_alone(
        *tenant, {.text = apply.text, .file = apply.file, .time = tenant->compile_time},
        rules.link.rss_mapping());
    if (!alone.is_sound) {
        return does_not_compile(std::move(alone.problems));
    }
    return alone;
}

}  // namespace

std::string tag_of(const TenantRules& rules) {
    return sum_of(rules.text);
}

std::size_t rules_of_tenant(const RuleView& view, const std::string& tenant) {
    return static_cast<std::size_t>(std::ranges::count_if(view.rules, [&](const auto& rule) {
        return tenant_of(rule.id) == tenant && rule.kind == RuleKind::Rule;
    }));
}

RuleChange apply_tenant(LiveRules& rules, const TenantApply& apply) {
    std::variant<LoneTenant, Refusal> alone = checked(rules, apply);
    if (auto* refusal = std::get_if<Refusal>(&alone)) {
        return refused(rules.board.view()->generation, std::move(*refusal));
    }
    RuleChange change = change_tenant(
        rules, {apply.tenant, true, apply.by_operator},
        [&](StoredRules& next) -> std::optional<Refusal> {
            if (auto others = not_the_tenants(next, apply.tenant, apply.in_place_of)) {
                return others;
            }
            put_text(next, apply, rules.applied);
            if (!apply.confirm) {
                forget_keys(next.keys, apply.tenant, std::get<LoneTenant>(alone).rules);
            }
            return std::nullopt;
        });
    change.warnings = std::move(std::get<LoneTenant>(alone).problems);
    return change;
}

CheckedTenant check_tenant(const LiveRules& rules, const TenantApply& apply) {
    std::variant<LoneTenant, Refusal> alone = checked(rules, apply);
    if (auto* refusal = std::get_if<Refusal>(&alone)) {
        return {.refusal = std::move(*refusal)};
    }
    auto& sound = std::get<LoneTenant>(alone);
    std::vector<RuleSummary> before;
    const std::shared_ptr<const RuleView> shown = rules.board.view();
    std::ranges::copy_if(shown->rules, std::back_inserter(before), [&](const RuleSummary& rule) {
        return tenant_of(rule.id) == apply.tenant;
    });
    return {.rules = static_cast<std::size_t>(
                std::ranges::count(sound.rules, RuleKind::Rule, &RuleSummary::kind)),
            .diff = diff_of(before, sound.rules),
            .warnings = std::move(sound.problems)};
}

RuleChange confirm_tenant(LiveRules& rules, const TenantTurn& turn) {
    return change_tenant(
        rules, {turn.tenant, false, turn.by_operator},
        [&](StoredRules& next) -> std::optional<Refusal> {
            if (auto others = not_the_tenants(next, turn.tenant, turn.in_place_of)) {
                return others;
            }
            const TenantRules* own = find_rules(next, turn.tenant);
            if (own == nullptr || !own->end || rules.applied.is_over(*own->end)) {
                return Refusal{Refusal::Kind::NothingToConfirm,
                               "no rules of " + turn.tenant + " are on trial",
                               {}};
            }
            next.tenants[turn.tenant].end.reset();
            next.tenants[turn.tenant].before_trial.clear();
            return std::nullopt;
        });
}

RuleChange rollback_tenant(LiveRules& rules, const TenantTurn& turn) {
    const std::shared_ptr<const RuleView> shown = rules.board.view();
    const auto now = shown->tenants.find(turn.tenant);
    const bool ends_trial = now != shown->tenants.end() && now->second.end;
    return change_tenant(
        rules, {turn.tenant, !ends_trial, turn.by_operator},
        [&](StoredRules& next) -> std::optional<Refusal> {
            if (auto others = not_the_tenants(next, turn.tenant, turn.in_place_of)) {
                return others;
            }
            const TenantRules* own = find_rules(next, turn.tenant);
            if (own == nullptr || (!own->end && own->before == own->text)) {
                return Refusal{Refusal::Kind::NothingBefore,
                               "there are no earlier rules of " + turn.tenant + " to go back to",
                               {}};
            }
            go_back(next, turn.tenant);
            next.tenants[turn.tenant].changed_at = rules.applied.now();
            next.tenants[turn.tenant].changed_by = turn.from;
            return std::nullopt;
        });
}

RuleChange forget_tenant(LiveRules& rules, const TenantTurn& turn) {
    return change_tenant(
        rules, {turn.tenant, false, true}, [&](StoredRules& next) -> std::optional<Refusal> {
            if (find_tenant(turn.tenant) != nullptr) {
                return Refusal{Refusal::Kind::StillATenant,
                               "sluice.yaml has the tenant " + turn.tenant +
                                   ": take it out there first, or apply it an empty file",
                               {}};
            }
            if (next.tenants.erase(turn.tenant) == 0) {
                return Refusal{
                    Refusal::Kind::NoSuchTenant, "no rules of " + turn.tenant + " are kept", {}};
            }
            forget_modes(next, turn.tenant);
            forget_keys(next.keys, turn.tenant, {});
            return std::nullopt;
        });
}

void TenantTrials::tick() {
    const std::shared_ptr<const RuleView> shown = rules_.board.view();
    const std::int64_t now = rules_.applied.now();
    if (now < retry_at_ || !rules_.link.status().connected) {
        return;
    }
    const std::vector<std::string> over = over_in(shown->tenants, rules_.applied);
    if (!over.empty()) {
        take_back(over, now);
    }
}

// Each by a change of its own: what keeps one from going back is nothing to the others.
void TenantTrials::take_back(const std::vector<std::string>& over, std::int64_t now) {
    for (const std::string& tenant : over) {
        const std::uint64_t before = rules_.board.view()->generation;
        const LiveRules::TenantEdit of{tenant, false};
        const LiveRules::Edit edit = [&](StoredRules& next) -> std::optional<Refusal> {
            const TenantRules* own = find_rules(next, tenant);
            if (own != nullptr && own->end && rules_.applied.is_over(*own->end)) {
                go_back(next, tenant);
            }
            return std::nullopt;
        };
        const RuleChange change = rules_.change_unstamped(edit, &of);
        if (change.refusal) {
            retry_at_ = now + kRetryTakingBack;
            spdlog::warn("the rules of {} were not confirmed in time and are still there: {}",
                         tenant, change.refusal->what);
            continue;
        }
        spdlog::warn("the rules of {} were not confirmed in time: those of before are in force",
                     tenant);
        rules_.audit.write({.call = "tenant " + tenant,
                            .before = generation_text(before),
                            .after = generation_text(change.after),
                            .outcome = "was not confirmed in time; went back"});
    }
}

}  // namespace sluice
