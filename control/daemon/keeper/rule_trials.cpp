#include "control/daemon/keeper/rule_trials.hpp"

#include "control/daemon/keeper/compile_tries.hpp"
#include "lib/wire/codec.hpp"

#include <utility>

namespace sluice {
namespace {

// The state that a rollback leaves: all of it is the same as before, or other rules came meanwhile.
struct TrialLeft {
    explicit TrialLeft(const AppliedRules& applied) : end{applied.trial_end()} {
        if (applied.current() != nullptr) {
            tag = tag_of(*applied.current());
            set_on_trial = applied.current()->set_on_trial;
            lists = applied.current()->lists;
            tenants = applied.current()->tenants;
        }
    }
    [[nodiscard]] bool operator==(const TrialLeft&) const = default;

    std::string tag;
    ModeOverrides set_on_trial;
    ListTexts lists;
    TenantTexts tenants;
    std::optional<TrialEnd> end;
};

}  // namespace

RuleChange RuleTrials::confirm(const std::optional<std::string>& wanted) {
    AppliedRules& applied = rules_.applied;
    const std::lock_guard lock{rules_.changing};
    if (std::optional<Refusal> others = rules_.not_in_force(wanted)) {
        return refused(applied.generation(), *std::move(others));
    }
    if (!applied.trial() || applied.trial_is_over()) {
        return refused(applied.generation(),
                       {Refusal::Kind::NothingToConfirm,
                        applied.trial() ? "the time to confirm is over; the rules of before "
                                          "are being put back"
                                        : "no rules wait to be confirmed",
                        {}});
    }
    RuleChange change;
    change.before = applied.kept() ? applied.kept()->generation : 0;
    change.refusal =
        send_rules(rules_.link, KeepRules{applied.generation(), applied.trial_end()->forgives},
                   applied.generation());
    if (change.refusal) {
        return change;
    }
    if (const Result<Done> done = applied.confirm_trial(); !done) {
        change.refusal = Refusal{Refusal::Kind::NotKept, done.error().what, {}};
        return change;
    }
    change.after = applied.generation();
    change.rules = rules_.board.show_confirmed();
    return change;
}

// The set to go back to is compiled with no lock held, like what is applied; if anything else has
// come into force or a key was set meanwhile, it is looked for again (CompileTries).
RuleChange RuleTrials::rollback(const Rollback& rollback) {
    AppliedRules& applied = rules_.applied;
    CompileTries tries{rules_.changing};
    for (;;) {
        tries.lock();
        if (std::optional<Refusal> others = rules_.not_in_force(rollback.in_place_of)) {
            return refused(applied.generation(), *std::move(others));
        }
        std::variant<Return, Refusal> found = way_back(rollback);
        if (auto* refusal = std::get_if<Refusal>(&found)) {
            return refused(applied.generation(), std::move(*refusal));
        }
        auto& back = std::get<Return>(found);
        const TrialLeft left{applied};
        const bool is_alone = tries.begin_compile();
        Compiled compiled = rules_.compile_now(back.rules);
        tries.lock();
        if (!is_alone && (left != TrialLeft{applied} || !applied.renew_keys(back.rules) ||
                          !applied.renew_tenants(back.rules))) {
            continue;
        }
        if (rollback.number) {
            return go_to(std::move(back), std::move(compiled), rollback);
        }
        return back.former ? go_back(std::move(back), std::move(compiled))
                           : give_up_trial(std::move(back.rules), std::move(compiled));
    }
}

std::optional<std::variant<Compiled, Refusal>> RuleTrials::preview(const Rollback& rollback) {
    const auto turn = previews_.enter(FairTurns::kOneAsker);
    if (std::holds_alternative<FairTurns::Refused>(turn)) {
        return std::nullopt;
    }
    std::unique_lock lock{rules_.changing};
    if (std::optional<Refusal> others = rules_.not_in_force(rollback.in_place_of)) {
        return *std::move(others);
    }
    std::variant<Return, Refusal> found = way_back(rollback);
    lock.unlock();
    if (auto* refusal = std::get_if<Refusal>(&found)) {
        return std::move(*refusal);
    }
    return rules_.compile_now(std::get<Return>(found).rules);
}

std::variant<RuleTrials::Return, Refusal> RuleTrials::way_back(const Rollback& rollback) const {
    const AppliedRules& applied = rules_.applied;
    if (rollback.is_of_trial && !applied.trial()) {
        return Refusal{Refusal::Kind::NothingToConfirm, "no rules are on trial", {}};
    }
    if (!rollback.number) {
        Result<Return> newest = newest_return();
        if (!newest) {
            return Refusal{Refusal::Kind::NothingBefore, newest.error().what, {}};
        }
        renew(*newest, rollback.from);
        return *std::move(newest);
    }
    Result<std::optional<History::Former>> former = applied.history().numbered(*rollback.number);
    if (!former || !*former) {
        return Refusal{former ? Refusal::Kind::NoSuchSet : Refusal::Kind::NothingBefore,
                       former ? "there are no earlier rules of the number " +
                                    std::to_string(*rollback.number) +
                                    "; `sluicectl history` lists those that are kept"
                              : former.error().what,
                       {}};
    }
    Return back;
    back.rules = (*former)->rules;
    back.former = *std::move(former);
    renew(back, rollback.from);
    return back;
}

// The set that was kept before a trial; else the newest of the history.
Result<RuleTrials::Return> RuleTrials::newest_return() const {
    const AppliedRules& applied = rules_.applied;
    Return back;
    if (applied.trial()) {
        back.rules = applied.kept_or_none();
        (void)applied.carry_modes(back.rules);
        return back;
    }
    Result<std::optional<History::Former>> former = applied.former();
    if (!former) {
        return Error{former.error().code,
                     former.error().what + "; another rollback goes to the one before it"};
    }
    if (!*former) {
        return Error{Errc::OutOfRange, "there are no earlier rules to go back to; at most " +
                                           std::to_string(History::kMost) + " are kept"};
    }
    back.rules = (*former)->rules;
    back.former = *std::move(former);
    return back;
}

// Gives the set of before the lives and the settings of now.
void RuleTrials::renew(Return& back, const Author& from) const {
    const AppliedRules& applied = rules_.applied;
    if (back.former) {
        RuleLives lives = applied.known_lives();
        lives.insert(back.rules.lives.begin(), back.rules.lives.end());  // of rules forgotten since
        back.rules.lives = std::move(lives);
        back.rules.changed_at = applied.now();
        back.rules.changed_by = from;
    }
    (void)applied.renew_keys(back.rules);
    (void)applied.renew_tenants(back.rules);
}

RuleChange RuleTrials::go_back(Return back, Compiled compiled) {
    rules_.board.count_return();
    RuleChange change = rules_.push(std::move(back.rules), std::move(compiled),
                                    {.force = true, .call = "rollback"});
    if (!change.refusal) {
        rules_.applied.take_out(*back.former);
        rules_.board.set_list_problem("");
    }
    return change;
}

RuleChange RuleTrials::go_to(Return back, Compiled compiled, const Rollback& rollback) {
    rules_.board.count_return();
    RuleChange change = rules_.push(std::move(back.rules), std::move(compiled),
                                    {.force = true,
                                     .remember = true,
                                     .confirm = rollback.confirm,
                                     .in_place_of = rollback.in_place_of,
                                     .call = "rollback " + std::to_string(*rollback.number)});
    if (!change.refusal) {
        rules_.board.set_list_problem("");
    }
    return change;
}

// When the dataplane does not take the old set, the trial goes on, and its deadline holds.
RuleChange RuleTrials::give_up_trial(StoredRules old, Compiled compiled) {
    AppliedRules& applied = rules_.applied;
    if (!compiled.rules) {
        return refused(applied.generation(), does_not_compile(std::move(compiled.problems)));
    }
    RuleChange change;
    change.before = applied.generation();
    forget_modes_of_others(old.modes, *compiled.rules);
    (void)forget_keys_of_others(old, *compiled.rules, false);
    change.refusal = sync_.bring(std::move(old), compiled.rules->set);
    if (change.refusal) {
        return change;
    }
    rules_.record_modes_on_trial();
    change.after = applied.kept()->generation;
    change.rules = compiled.rules->set.rules.size();
    applied.forget_trial();
    applied.drop_old_lists();
    rules_.board.count_return();
    rules_.board.set_list_problem("");
    rules_.board.show(applied, &*compiled.rules);
    return change;
}

bool RuleTrials::keep_deadline() {
    const std::optional<Unconfirmed> shown = rules_.board.view()->unconfirmed;
    if (!shown || !rules_.applied.is_over(shown->end)) {
        return true;  // without waiting for a change
    }
    const std::lock_guard lock{rules_.changing};
    if (!rules_.applied.trial_is_over()) {
        return true;
    }
    rules_.end_trial("was not confirmed in time");
    return sync_.bring_kept();
}

}  // namespace sluice
