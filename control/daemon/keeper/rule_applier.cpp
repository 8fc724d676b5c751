#include "control/daemon/keeper/rule_applier.hpp"

#include "control/daemon/keeper/compile_tries.hpp"
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

RuleChange RuleApplier::apply(RuleFile file) {
    const auto turn = turns_.enter(FairTurns::kOneAsker);
    if (std::holds_alternative<FairTurns::Refused>(turn)) {
        return refused(rules_.board.view()->generation,
                       {Refusal::Kind::Superseded,
                        "newer rules came while these waited for others to be compiled; these "
                        "were not compiled",
                        {}});
    }
    const PushTerms terms{.force = file.force,
                          .strict = file.strict,
                          .forgive = file.forgive,
                          .remember = true,
                          .confirm = file.confirm,
                          .in_place_of = file.in_place_of,
                          .call = "apply"};
    StoredRules next = as_applied(std::move(file));
    CompileTries tries{rules_.changing};
    for (;;) {
        tries.lock();
        (void)rules_.applied.renew_keys(next);
        (void)rules_.applied.renew_tenants(next);
        const bool is_alone = tries.begin_compile();
        Compiled compiled = rules_.compile_now(next, {.is_refused = true});
        tries.lock();
        const bool is_same =
            is_alone || (rules_.applied.renew_keys(next) && rules_.applied.renew_tenants(next));
        if (!is_same || !rules_.applied.renew_lives(next, compiled)) {
            continue;  // rules have ended, or a key or a tenant's rules were set meanwhile
        }
        std::vector<Problem> told;
        if (compiled.rules) {
            told = forget_keys_of_others(next, *compiled.rules, terms.confirm.has_value());
            std::ranges::copy(ended_rules(compiled.rules->rules, next.lives, next.file),
                              std::back_inserter(told));
        }
        RuleChange change = rules_.push(std::move(next), std::move(compiled), terms);
        if (!change.refusal) {
            change.warnings.insert(change.warnings.end(), told.begin(), told.end());
            rules_.board.set_list_problem("");
        }
        return change;
    }
}

std::optional<Compiled> RuleApplier::preview(RuleFile file) {
    const auto turn = previews_.enter(FairTurns::kOneAsker);
    if (std::holds_alternative<FairTurns::Refused>(turn)) {
        return std::nullopt;
    }
    StoredRules next = as_applied(std::move(file));
    return rules_.compile_now(next, {.is_refused = true});
}

StoredRules RuleApplier::as_applied(RuleFile file) const {
    const std::shared_ptr<const RuleView> shown = rules_.board.view();
    ModeOverrides modes = shown->modes;
    std::erase_if(modes, [](const auto& mode) { return tenant_of(mode.first).empty(); });
    std::set<std::string> sent;
    for (const auto& [path, text] : file.lists) {
        sent.insert(path);
    }
    return {.file = std::move(file.name),
            .text = std::move(file.text),
            .modes = std::move(modes),
            .lives = shown->lives,
            .changed_at = rules_.applied.now(),
            .changed_by = file.from,
            .directory = std::move(file.directory),
            .applied_by = file.from.uid,
            .lists = std::move(file.lists),
            .sent = std::move(sent),
            .keys = shown->keys,
            .slices = std::move(file.slices),
            .tenants = shown->tenants};
}

}  // namespace sluice
