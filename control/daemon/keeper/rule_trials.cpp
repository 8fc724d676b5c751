#include "control/daemon/keeper/rule_trials.hpp"

#include "lib/wire/codec.hpp"

#include <utility>

namespace sluice {

RuleChange RuleTrials::confirm() {
    AppliedRules& applied = rules_.applied;
    const std::lock_guard lock{rules_.changing};
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
    change.refusal = send_rules(rules_.link, KeepRules{applied.generation()}, applied.generation());
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

// What is gone back to is compiled with no lock held, like what is applied; if anything else has
// come into force or a key was set meanwhile, it is looked for again.
RuleChange RuleTrials::rollback(uid_t from) {
    AppliedRules& applied = rules_.applied;
    for (;;) {
        std::unique_lock lock{rules_.changing};
        Result<Return> back = way_back(from);
        if (!back) {
            return refused(applied.generation(),
                           {Refusal::Kind::NothingBefore, back.error().what, {}});
        }
        const std::uint64_t left = applied.generation();
        lock.unlock();
        Compiled compiled = rules_.compile_now(back->rules);
        lock.lock();
        const bool same =
            applied.generation() == left && applied.trial().has_value() == !back->former;
        if (same && applied.renew_keys(back->rules)) {
            return back->former ? go_back(*std::move(back), std::move(compiled))
                                : give_up_trial(std::move(back->rules), std::move(compiled));
        }
    }
}

// Of a trial, the set that was kept before it; else the newest of the history.
Result<RuleTrials::Return> RuleTrials::way_back(uid_t from) const {
    const AppliedRules& applied = rules_.applied;
    Return back;
    if (applied.trial()) {
        back.rules = applied.kept_or_none();
        (void)applied.renew_keys(back.rules);
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
    RuleLives lives = applied.known_lives();
    lives.insert(back.rules.lives.begin(), back.rules.lives.end());  // of rules forgotten since
    back.rules.lives = std::move(lives);
    back.rules.changed_at = applied.now();
    back.rules.changed_by = from;
    (void)applied.renew_keys(back.rules);
    return back;
}

RuleChange RuleTrials::go_back(Return back, Compiled compiled) {
    rules_.board.count_return();
    RuleChange change = rules_.push(std::move(back.rules), std::move(compiled), {.force = true});
    if (!change.refusal) {
        rules_.applied.take_out(*back.former);
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
    change.refusal = sync_.bring(std::move(old), compiled.rules->set);
    if (change.refusal) {
        return change;
    }
    change.after = applied.kept()->generation;
    change.rules = compiled.rules->set.rules.size();
    applied.forget_trial();
    applied.drop_old_lists();
    rules_.board.count_return();
    rules_.board.set_list_problem("");
    rules_.board.show(applied, std::move(compiled.rules->rules));
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
