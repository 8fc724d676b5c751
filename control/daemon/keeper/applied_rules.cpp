#include "control/daemon/keeper/applied_rules.hpp"

#include <spdlog/spdlog.h>

#include <ctime>
#include <utility>

#include <unistd.h>

namespace sluice {

std::size_t AppliedRules::load() {
    Result<std::optional<StoredRules>> kept = store_.load();
    Result<std::optional<Trial>> trial = store_.load_trial();
    const std::size_t lost = kept ? 0 : 1;
    if (kept) {
        kept_ = *std::move(kept);
    } else {
        spdlog::error("{}", kept.error().what);
    }
    if (!trial) {
        spdlog::error("{}; the unconfirmed rules go", trial.error().what);
        return lost + 1;
    }
    trial_ = *std::move(trial);
    if (trial_ && !kept) {
        spdlog::error("the rules to go back to are lost: those on trial stay");
        forget_trial();
    }
    return lost;
}

const StoredRules* AppliedRules::current() const {
    if (trial_) {
        return &trial_->rules;
    }
    return kept_ ? &*kept_ : nullptr;
}

std::uint64_t AppliedRules::generation() const {
    return current() == nullptr ? 0 : current()->generation;
}

std::optional<TrialEnd> AppliedRules::trial_end() const {
    return trial_ ? std::optional{trial_->end} : std::nullopt;
}

bool AppliedRules::trial_is_over() const {
    return trial_ && is_over(trial_->end);
}

std::optional<Unconfirmed> AppliedRules::unconfirmed() const {
    if (!trial_) {
        return std::nullopt;
    }
    return Unconfirmed{trial_->end, kept_ ? kept_->generation : 0};
}

bool AppliedRules::is_over(const TrialEnd& end) const {
    return left_until(end.at, clock_()).count() == 0;
}

TrialEnd AppliedRules::end_after(std::chrono::nanoseconds time) const {
    const BootTime now = clock_();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {.at = {now.boot, now.since + time}, .utc = std::time(nullptr) + seconds.count()};
}

RuleLives AppliedRules::known_lives() const {
    RuleLives lives = trial_ ? trial_->rules.lives : RuleLives{};
    if (kept_) {
        lives.insert(kept_->lives.begin(), kept_->lives.end());
    }
    return lives;
}

bool AppliedRules::renew_lives(StoredRules& rules, const Compiled& compiled) const {
    if (!compiled.rules) {
        return true;
    }
    const RuleLives before = std::move(rules.lives);
    rules.lives = renewed(known_lives(), compiled.rules->rules, now_());
    return same_ends(compiled.rules->rules, before, rules.lives);
}

bool AppliedRules::renew_keys(StoredRules& rules) const {
    KeySettings keys = current() != nullptr ? current()->keys : KeySettings{};
    forget_ended(keys, now_());
    const bool same = keys == rules.keys;
    rules.keys = std::move(keys);
    return same;
}

Compiled AppliedRules::compile_current(const RssMapping& box) {
    return compile(trial_ ? trial_->rules : *kept_, box);
}

Result<PendingFile> AppliedRules::prepare(const StoredRules& next,
                                          const std::optional<TrialEnd>& end) const {
    return end ? store_.prepare(Trial{next, *end}) : store_.prepare(next);
}

void AppliedRules::settle(PendingFile pending, StoredRules next, const std::optional<TrialEnd>& end,
                          bool remember) {
    if (remember && !end) {
        remember_before(next);
    }
    if (const Result<Done> done = pending.commit(); !done) {
        spdlog::error("the rules are in force, but may be lost at a restart: {}",
                      done.error().what);
    }
    if (end) {
        trial_ = Trial{std::move(next), *end};
    } else {
        if (trial_) {
            forget_trial();
        }
        kept_ = std::move(next);
    }
    store_.drop_old_lists();
}

// The disk has another set where this one was never kept, one of its rules has ended, the copy of a
// list was lost, its lists came another way, or another version of sluiced compiled it to something
// else. Rules that lie there already come back also when the disk is full.
void AppliedRules::keep(StoredRules rules) {
    if (!kept_ || kept_->generation != rules.generation || kept_->lives != rules.lives ||
        kept_->lists != rules.lists || kept_->sent != rules.sent) {
        Result<PendingFile> pending = store_.prepare(rules);
        const Result<Done> done = pending ? pending->commit() : Result<Done>{pending.error()};
        if (!done) {
            spdlog::error("the rules are in force, but not kept: {}", done.error().what);
        }
    }
    kept_ = std::move(rules);
}

Result<Done> AppliedRules::confirm_trial() {
    remember_before(trial_->rules);
    Result<Done> done = store_.confirm_trial();
    if (done) {
        kept_ = std::move(trial_->rules);
        trial_.reset();
        store_.drop_old_lists();
    }
    return done;
}

void AppliedRules::forget_trial() {
    if (const Result<Done> done = store_.drop_trial(); !done) {
        spdlog::error("{}", done.error().what);
    }
    trial_.reset();
}

void AppliedRules::abandon_trial() {
    StoredRules back = kept_or_none();
    (void)renew_keys(back);
    kept_ = std::move(back);
    forget_trial();
}

StoredRules AppliedRules::kept_or_none() const {
    if (kept_) {
        return *kept_;
    }
    return {.file = "(no rules)",
            .text = "version: 1\nrules: []\n",
            .modes = {},
            .changed_at = std::time(nullptr),
            .changed_by = ::getuid()};
}

void AppliedRules::take_out(const History::Former& former) const {
    if (const Result<Done> done = store_.history().take_out(former); !done) {
        spdlog::error("{}", done.error().what);
    }
    store_.drop_old_lists();
}

// The kept set makes room for this one.
void AppliedRules::remember_before(const StoredRules& next) const {
    if (!kept_ || same_source(*kept_, next)) {
        return;
    }
    if (const Result<Done> done = store_.remember(); !done) {
        spdlog::error("there is no way back to the rules of before: {}", done.error().what);
    }
}

}  // namespace sluice
