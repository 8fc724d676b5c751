#include "control/daemon/keeper/rule_edits.hpp"

#include "control/daemon/dynamic_count.hpp"
#include "control/daemon/keeper/edited_rules.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {
namespace {

// Root leaves the lists with the rights of the user who applied the set, who may have named any
// path. For another user they are read anew, as on any apply, and what was sent along is nobody
// else's to see.
std::optional<Refusal> take_over(StoredRules& next, uid_t from) {
    if (from == 0 || next.applied_by == from) {
        return std::nullopt;
    }
    if (!next.sent.empty()) {
        return not_in_place("lists of these rules were sent along by uid " +
                            std::to_string(next.applied_by) +
                            ", who alone can go on with them; apply the whole set");
    }
    next.lists.clear();
    next.applied_by = from;
    return std::nullopt;
}

std::string call_of(const RuleEdit& edit, const std::string& id) {
    const char* const word = edit.kind == RuleEdit::Kind::Add       ? "rule add "
                             : edit.kind == RuleEdit::Kind::Replace ? "rule replace "
                                                                    : "rule delete ";
    return word + id;
}

PushTerms terms_of(const RuleEdit& edit, const std::string& id, const AppliedRules& applied) {
    return {.force = edit.force,
            .strict = edit.strict,
            .remember = true,
            .confirm = edit.confirm,
            .end = applied.trial_end(),
            .in_place_of = edit.in_place_of,
            .call = call_of(edit, id)};
}

// The text is edited and compiled with no lock held, like what is applied. nullopt: other rules
// came meanwhile, and nothing was changed.
std::optional<RuleChange> try_edit(LiveRules& rules, const RuleEdit& edit, const LoneRule* rule,
                                   CompileTries& tries) {
    AppliedRules& applied = rules.applied;
    const std::string& id = rule == nullptr ? edit.id : rule->id;
    tries.lock();
    if (applied.current() == nullptr) {
        return refused(0, {Refusal::Kind::NoSuchRule, "no rules were ever applied", {}});
    }
    if (std::optional<Refusal> others = rules.not_in_force(edit.in_place_of)) {
        return refused(applied.generation(), *std::move(others));
    }
    StoredRules now = *applied.current();
    (void)applied.renew_keys(now);
    const std::uint64_t edition = applied.edition();
    const bool is_alone = tries.begin_compile();
    std::variant<EditedRules, Refusal> made = edited(now, edit, rule, *rules.board.view());
    if (auto* refusal = std::get_if<Refusal>(&made)) {
        return refused(now.generation, std::move(*refusal));
    }
    auto& become = std::get<EditedRules>(made);
    StoredRules next = std::move(become.next);
    if (std::optional<Refusal> refusal = take_over(next, edit.from.uid)) {
        return refused(now.generation, *std::move(refusal));
    }
    const bool reads_lists_anew = next.applied_by != now.applied_by;
    next.modes.erase(id);
    next.changed_at = applied.now();
    next.changed_by = edit.from;
    Compiled compiled = rules.compile_now(next, {.is_refused = true, .of = id});
    tries.lock();
    const bool is_same = is_alone || (applied.edition() == edition && applied.renew_keys(next));
    if (!is_same || !applied.renew_lives(next, compiled)) {
        return std::nullopt;
    }
    std::vector<Problem> told;
    if (compiled.rules) {
        told = forget_keys_of_others(next, *compiled.rules, edit.confirm || applied.trial());
        std::ranges::copy(ended_rules(compiled.rules->rules, next.lives, next.file),
                          std::back_inserter(told));
    }
    RuleChange change =
        rules.push(std::move(next), std::move(compiled), terms_of(edit, id, applied));
    if (!change.refusal) {
        change.warnings.insert(change.warnings.end(), told.begin(), told.end());
        if (reads_lists_anew) {
            rules.board.set_list_problem("");
        }
    }
    if (rule != nullptr) {
        show_in_its_file(change.warnings, become, edit.name, *rule);
        if (change.refusal) {
            show_in_its_file(change.refusal->problems, become, edit.name, *rule);
        }
    }
    return change;
}

}  // namespace

RuleChange edit_rule(LiveRules& rules, const RuleEdit& edit) {
    std::optional<LoneRule> rule;
    if (edit.kind != RuleEdit::Kind::Delete) {
        Problems problems{edit.name};
        rule = read_edit(edit, problems);
        if (!rule) {
            return refused(rules.board.view()->generation, does_not_compile(problems.list()));
        }
    }
    const std::lock_guard lock{rules.editing};
    CompileTries tries{rules.changing};
    for (;;) {
        std::optional<RuleChange> done = try_edit(rules, edit, rule ? &*rule : nullptr, tries);
        if (done) {
            return *std::move(done);
        }
    }
}

}  // namespace sluice
