#include "control/daemon/rule_keeper.hpp"
#include "lib/wire/codec.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

#include <unistd.h>

// The way back: a set on trial goes again unless it is confirmed, and rollback undoes what was
// kept.
namespace sluice {
namespace {

// What there was before the first set.
StoredRules no_rules() {
    return {.file = "(no rules)",
            .text = "version: 1\nrules: []\n",
            .modes = {},
            .changed_at = std::time(nullptr),
            .changed_by = ::getuid()};
}

}  // namespace

TrialEnd RuleKeeper::end_after(std::chrono::nanoseconds time) const {
    const BootTime now = clock_();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {.at = {now.boot, now.since + time}, .utc = std::time(nullptr) + seconds.count()};
}

bool RuleKeeper::is_over(const Trial& trial) const {
    return left_until(trial.end.at, clock_()).count() == 0;
}

std::optional<Unconfirmed> RuleKeeper::unconfirmed() const {
    if (!trial_) {
        return std::nullopt;
    }
    return Unconfirmed{trial_->end, kept_ ? kept_->generation : 0};
}

// First the dataplane keeps it, then we do: whoever dies in between leaves a trial that ends, and
// then brings the dataplane the old set.
Change RuleKeeper::confirm() {
    const std::lock_guard lock{changing_};
    if (!trial_ || is_over(*trial_)) {
        return refused(generation(), {Refusal::Kind::NothingToConfirm,
                                      trial_ ? "the time to confirm is over; the rules of before "
                                               "are being put back"
                                             : "no rules wait to be confirmed",
                                      {}});
    }
    Change change;
    change.before = kept_ ? kept_->generation : 0;
    change.refusal = send(KeepRules{generation()}, generation());
    if (change.refusal) {
        return change;
    }
    remember_before(generation());
    if (const Result<Done> done = store_.confirm_trial(); !done) {
        change.refusal = Refusal{Refusal::Kind::NotKept, done.error().what, {}};
        return change;
    }
    kept_ = std::move(trial_->rules);
    trial_.reset();
    store_.drop_old_lists();
    change.after = generation();
    change.rules = show_confirmed();
    return change;
}

// How many rules are on.
std::size_t RuleKeeper::show_confirmed() {
    RuleView next = *view();
    next.unconfirmed.reset();
    const auto on = std::count_if(next.rules.begin(), next.rules.end(),
                                  [](const auto& rule) { return rule.mode != Mode::Off; });
    const std::lock_guard lock{looking_};
    view_ = std::make_shared<const RuleView>(std::move(next));
    return static_cast<std::size_t>(on);
}

// What is gone back to is compiled with no lock held, like what is applied; if anything else has
// come into force or was said of a key meanwhile, it is looked for again.
Change RuleKeeper::rollback(uid_t from) {
    for (;;) {
        std::unique_lock lock{changing_};
        Result<Return> back = way_back(from);
        if (!back) {
            return refused(generation(), {Refusal::Kind::NothingBefore, back.error().what, {}});
        }
        const std::uint64_t left = generation();
        lock.unlock();
        Compiled compiled = compile_at(back->rules, now_(), link_.spread());
        lock.lock();
        const bool same = generation() == left && trial_.has_value() == !back->former;
        if (same && keeps_keys(back->rules)) {
            return back->former ? go_back(*std::move(back), std::move(compiled))
                                : give_up_trial(std::move(back->rules), std::move(compiled));
        }
    }
}

// Of a trial, the set that was kept before it; else the newest of the history.
Result<RuleKeeper::Return> RuleKeeper::way_back(uid_t from) const {
    Return back;
    if (trial_) {
        back.rules = kept_.value_or(no_rules());
        (void)keeps_keys(back.rules);
        return back;
    }
    Result<std::optional<History::Former>> former = store_.history().newest_but(generation());
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
    RuleLives lives = known_lives();
    lives.insert(back.rules.lives.begin(),
                 back.rules.lives.end());  // of what is not known any more
    back.rules.lives = std::move(lives);
    back.rules.changed_at = now_();
    back.rules.changed_by = from;
    (void)keeps_keys(back.rules);
    return back;
}

Change RuleKeeper::go_back(Return back, Compiled compiled) {
    ++returns_;
    Change change = push(std::move(back.rules), std::move(compiled), {.force = true});
    if (!change.refusal) {
        if (const Result<Done> done = store_.history().take_out(*back.former); !done) {
            spdlog::error("{}", done.error().what);
        }
        store_.drop_old_lists();
        set_list_problem("");
    }
    return change;
}

// When the dataplane does not take the old set, the trial goes on, and its deadline holds.
Change RuleKeeper::give_up_trial(StoredRules old, Compiled compiled) {
    if (!compiled.rules) {
        return refused(generation(), does_not_compile(std::move(compiled.problems)));
    }
    Change change;
    change.before = generation();
    change.refusal = bring(std::move(old), compiled.rules->set);
    if (change.refusal) {
        return change;
    }
    change.after = kept_->generation;
    change.rules = compiled.rules->set.rules.size();
    forget_trial();
    store_.drop_old_lists();
    ++returns_;
    set_list_problem("");
    show(std::move(compiled.rules->rules));
    return change;
}

bool RuleKeeper::keep_deadline() {
    const std::optional<Unconfirmed> shown = view()->unconfirmed;
    if (!shown || left_until(shown->end.at, clock_()).count() != 0) {
        return true;  // and nobody was waited for
    }
    const std::lock_guard lock{changing_};
    if (!trial_ || !is_over(*trial_)) {
        return true;
    }
    end_trial("was not confirmed in time");
    return bring_kept();
}

// From here on the old set is the one to come back to, whatever happens.
void RuleKeeper::end_trial(const std::string& why) {
    revert_ = Revert{generation(), why};
    ++reverts_;
    ++returns_;
    set_list_problem("");
    spdlog::warn("generation {:016x} {}; going back to {:016x}", generation(), why,
                 kept_ ? kept_->generation : 0);
    if (!kept_) {
        kept_ = no_rules();
    }
    (void)keeps_keys(*kept_);
    forget_trial();
}

void RuleKeeper::forget_trial() {
    if (const Result<Done> done = store_.drop_trial(); !done) {
        spdlog::error("{}", done.error().what);
    }
    trial_.reset();
}

// Nobody asked for it, so we stand in the audit ourselves.
void RuleKeeper::tell_of_revert() {
    if (!revert_) {
        return;
    }
    audit_.write({.who = {.uid = ::getuid(), .gid = ::getgid(), .pid = ::getpid()},
                  .call = "revert",
                  .before = fmt::format("{:016x}", revert_->from),
                  .after = fmt::format("{:016x}", generation()),
                  .outcome = "done: it " + revert_->why});
    revert_.reset();
}

}  // namespace sluice
