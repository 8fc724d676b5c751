#include "control/daemon/keeper/applied_rules.hpp"

#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace sluice {

void forget_modes_of_others(ModeOverrides& modes, const CompiledRules& compiled) {
    std::set<std::string_view> ids;
    for (const RuleSummary& rule : compiled.rules) {
        ids.insert(rule.id);
    }
    for (const ServiceSummary& service : compiled.services) {
        ids.insert(service.id);
    }
    std::erase_if(modes, [&](const auto& one) {
        return tenant_of(one.first).empty() && !ids.contains(one.first);
    });
}

std::vector<Problem> forget_keys_of_others(StoredRules& rules, const CompiledRules& compiled,
                                           bool on_trial) {
    KeySettings others = take_other_rules(rules.keys, compiled.rules, compiled.aside);
    std::map<std::string_view, std::size_t> by_rule;
    for (const KeySetting& one : others) {
        ++by_rule[one.rule];
    }
    std::vector<Problem> told;
    for (const auto& [rule, settings] : by_rule) {
        told.push_back(
            {rules.file,
             {1, 1},
             Severity::Warning,
             fmt::format("the rule {} is gone, and {} of its single keys with it{}", rule,
                         settings == 1 ? "1 setting" : fmt::format("{} settings", settings),
                         on_trial ? ": the end of the trial brings them back, and `confirm` "
                                    "forgets them"
                                  : "")});
    }
    rules.keys_aside = on_trial ? std::move(others) : KeySettings{};
    return told;
}

std::size_t AppliedRules::load() {
    Result<std::optional<StoredRules>> kept = store_.load();
    Result<std::optional<Trial>> trial = store_.load_trial();
    std::size_t lost = kept ? 0 : 1;
    ++edition_;
    if (kept) {
        kept_ = *std::move(kept);
        if (const std::string& fault = store_.journal_fault(); !fault.empty()) {
            spdlog::error("what was set last for single keys is lost: {}", fault);
            ++lost;
        }
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

const StoredRules* AppliedRules::same_as(const StoredRules& rules) const {
    if (trial_ && same_source(trial_->rules, rules)) {
        return &trial_->rules;
    }
    return kept_ && same_source(*kept_, rules) ? &*kept_ : nullptr;
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
    rules.lives = renewed(known_lives(), compiled.rules->rules, now_(), compiled.rules->aside);
    return same_ends(compiled.rules->rules, before, rules.lives);
}

bool AppliedRules::renew_keys(StoredRules& rules) const {
    KeySettings keys = current() != nullptr ? current()->keys : KeySettings{};
    if (current() != nullptr) {
        std::ranges::copy(current()->keys_aside, std::back_inserter(keys));
    }
    forget_ended(keys, now_());
    const bool same = keys == rules.keys;
    rules.keys = std::move(keys);
    return same;
}

bool AppliedRules::renew_tenants(StoredRules& rules) const {
    if (current() == nullptr) {
        return true;
    }
    const auto is_of_tenant = [](const auto& one) { return !tenant_of(one.first).empty(); };
    const auto with_tenants = [&](auto ours, const auto& theirs) {
        std::erase_if(ours, is_of_tenant);
        std::ranges::copy_if(theirs, std::inserter(ours, ours.end()), is_of_tenant);
        return ours;
    };
    ModeOverrides modes = with_tenants(rules.modes, current()->modes);
    const bool same = rules.tenants == current()->tenants && rules.modes == modes;
    rules.tenants = current()->tenants;
    rules.modes = std::move(modes);
    rules.lives = with_tenants(rules.lives, current()->lives);
    return same;
}

bool AppliedRules::carry_modes(StoredRules& back) const {
    const ModeOverrides before = back.modes;
    if (trial_) {
        for (const auto& [rule, mode] : trial_->rules.set_on_trial) {
            if (goes_on_after_trial(mode)) {
                back.modes[rule] = mode;
            }
        }
    }
    return back.modes == before;
}

Compiled AppliedRules::compile_current(const RssMapping& box) {
    StoredRules& rules = trial_ ? trial_->rules : *kept_;
    const ListTexts before = rules.lists;
    Compiled compiled = compile(rules, box);
    if (rules.lists != before) {
        ++edition_;
        store_.leave_journal();  // which has no copies of lists
    }
    return compiled;
}

Result<PendingChange> AppliedRules::prepare(const StoredRules& next,
                                            const std::optional<TrialEnd>& end,
                                            bool remember) const {
    if (end) {
        Result<PendingFile> trial = store_.prepare(Trial{next, *end});
        return trial ? Result<PendingChange>{PendingChange{*std::move(trial)}}
                     : Result<PendingChange>{trial.error()};
    }
    if (remember && kept_) {
        if (const Result<Done> whole = store_.fold(*kept_); !whole) {
            return whole.error();
        }
    }
    return store_.prepare_change(kept_ && !trial_ ? *kept_ : StoredRules{}, next);
}

void AppliedRules::settle(PendingChange pending, StoredRules next,
                          const std::optional<TrialEnd>& end, bool remember) {
    ++edition_;
    if (remember && !end) {
        remember_before(next);
    }
    const Result<Done> done =
        end ? std::get<PendingFile>(pending).commit() : store_.commit(pending);
    if (!done) {
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
        kept_->modes != rules.modes || kept_->lists != rules.lists || kept_->sent != rules.sent ||
        kept_->tenants != rules.tenants) {
        write_whole(rules);
    } else {
        store_.leave_journal();
    }
    ++edition_;
    kept_ = std::move(rules);
}

void AppliedRules::write_whole(const StoredRules& rules) {
    Result<PendingFile> whole = store_.prepare(rules);
    Result<Done> done = Done{};
    if (whole) {
        PendingChange pending{*std::move(whole)};
        done = store_.commit(pending);
    } else {
        store_.leave_journal();
        done = whole.error();
    }
    if (!done) {
        spdlog::error("the rules are in force, but not kept: {}", done.error().what);
    }
}

Result<Done> AppliedRules::confirm_trial() {
    if (kept_) {
        if (const Result<Done> whole = store_.fold(*kept_); !whole) {
            spdlog::error("the history has the rules of before without what was set last: {}",
                          whole.error().what);
        }
    }
    remember_before(trial_->rules);
    Result<Done> done = store_.confirm_trial();
    ++edition_;
    if (done) {
        store_.leave_journal();
        kept_ = std::move(trial_->rules);
        kept_->set_on_trial.clear();
        kept_->keys_aside.clear();
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
    ++edition_;
}

bool AppliedRules::abandon_trial() {
    store_.leave_journal();
    StoredRules back = kept_or_none();
    (void)renew_keys(back);
    const bool has_other_modes = !carry_modes(back);
    // Modes and changes of tenants during the trial have no other record.
    if (!renew_tenants(back) || has_other_modes) {
        write_whole(back);
    }
    kept_ = std::move(back);
    forget_trial();
    return has_other_modes;
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
