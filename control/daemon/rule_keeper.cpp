#include "control/daemon/rule_keeper.hpp"

#include "control/list_folder.hpp"
#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

namespace sluice {
namespace {

Refusal refusal_of(const Error& error) {
    switch (error.code) {
        case Errc::Unreachable:
            return {Refusal::Kind::NoDataplane, error.what, {}};
        case Errc::TooMany:
            return {Refusal::Kind::TooLarge, error.what, {}};
        default:
            return {Refusal::Kind::ByDataplane, error.what, {}};
    }
}

Request request_of(const RuleSet& rules, const StoredRules& next, bool on_trial) {
    ApplyRules apply{rules, next.text, notes_to_json(next)};
    return on_trial ? Request{TryRules{std::move(apply)}} : Request{std::move(apply)};
}

void warn_of_lost_lists(const StoredRules& rules) {
    for (const auto& [path, text] : rules.lists) {
        std::error_code error;
        const std::string whole = list_path(rules.directory, path);
        if (!std::filesystem::exists(whole, error)) {
            spdlog::warn("the list {} is gone; going on with the copy of it that was kept", whole);
        }
    }
}

}  // namespace

RuleKeeper::RuleKeeper(Store store, DataplaneLink& link, Audit& audit, BootClock clock,
                       WallClock now)
    : link_{link},
      audit_{audit},
      clock_{std::move(clock)},
      now_{std::move(now)},
      store_{std::move(store)} {
    load();
    if (current() == nullptr) {
        return;
    }
    warn_of_lost_lists(*current());
    Compiled compiled = compile(trial_ ? trial_->rules : *kept_, link_.spread());
    if (!compiled.rules) {
        spdlog::error("the stored rules do not compile any more; the dataplane keeps what it has");
    }
    show(compiled.rules ? std::move(compiled.rules->rules) : std::vector<RuleSummary>{});
}

const StoredRules* RuleKeeper::current() const {
    if (trial_) {
        return &trial_->rules;
    }
    return kept_ ? &*kept_ : nullptr;
}

std::uint64_t RuleKeeper::generation() const {
    return current() == nullptr ? 0 : current()->generation;
}

// Whether these, a copy of the set in force that is to take its place, still are what is in force.
bool RuleKeeper::is_in_force(const StoredRules& rules) const {
    return current() != nullptr && current()->generation == rules.generation &&
           current()->text == rules.text && current()->directory == rules.directory &&
           current()->applied_by == rules.applied_by;
}

// Compiling can take long: confirm, rollback, modes and deadlines do not wait for it.
Change RuleKeeper::apply(RuleFile file) {
    const std::optional<NewestNext::Turn> turn = applying_.enter();
    if (!turn) {
        return refused(view()->generation,
                       {Refusal::Kind::Superseded,
                        "newer rules came while these waited for others to be compiled; nobody "
                        "has looked at these",
                        {}});
    }
    const Terms terms{.force = file.force, .remember = true, .confirm = file.confirm};
    StoredRules next = as_applied(std::move(file));
    for (;;) {
        Compiled compiled = compile_at(next, now_(), link_.spread());
        const std::lock_guard lock{changing_};
        if (keeps_keys(next) && goes_on(next, compiled)) {
            if (compiled.rules) {
                forget_other_rules(next.keys, compiled.rules->rules);
            }
            Change change = push(std::move(next), std::move(compiled), terms);
            if (!change.refusal) {
                set_list_problem("");
            }
            return change;
        }
        // Rules have ended meanwhile: it is compiled without them. Or something was said of a key.
    }
}

Compiled RuleKeeper::preview(RuleFile file) const {
    StoredRules next = as_applied(std::move(file));
    return compile_at(next, now_(), link_.spread());
}

StoredRules RuleKeeper::as_applied(RuleFile file) const {
    return {.file = std::move(file.name),
            .text = std::move(file.text),
            .modes = {},
            .lives = view()->lives,
            .changed_at = now_(),
            .changed_by = file.from,
            .directory = std::move(file.directory),
            .applied_by = file.from,
            .lists = {},
            .keys = view()->keys};
}

// A mode belongs to the set it is set on: on a trial it goes when that goes.
Change RuleKeeper::set_mode(const std::string& rule, Mode mode, uid_t from) {
    for (;;) {
        std::unique_lock lock{changing_};
        std::optional<StoredRules> next = with_mode(rule, mode);
        if (!next) {
            return refused(generation(),
                           {Refusal::Kind::NoSuchRule, "there is no rule " + rule, {}});
        }
        if (has_ended(rule, next->lives)) {
            return refused(generation(), {Refusal::Kind::NoSuchRule,
                                          "the rule " + rule + " has ended: its ttl has run out",
                                          {}});
        }
        next->changed_at = now_();
        next->changed_by = from;
        lock.unlock();
        Compiled compiled = compile_at(*next, now_(), link_.spread());
        lock.lock();
        if (is_in_force(*next) && goes_on(*next, compiled)) {
            return push(*std::move(next), std::move(compiled),
                        {.force = true, .end = trial_ ? std::optional{trial_->end} : std::nullopt});
        }
        // Other rules came meanwhile: it is set on those.
    }
}

// The set in force with one mode more; nullopt: it has no such rule.
std::optional<StoredRules> RuleKeeper::with_mode(const std::string& rule, Mode mode) const {
    const std::shared_ptr<const RuleView> shown = view();
    const auto found = std::find_if(
        shown->rules.begin(), shown->rules.end(),
        [&](const RuleSummary& known) { return known.id == rule && known.kind == RuleKind::Rule; });
    if (current() == nullptr || found == shown->rules.end()) {
        return std::nullopt;
    }
    StoredRules next = *current();
    next.modes[rule] = mode;
    if (shown->file_modes[static_cast<std::size_t>(found - shown->rules.begin())] == mode) {
        next.modes.erase(rule);
    }
    return next;
}

// Writes beside the old, sends, takes the old one's place; in this order, so that a failure leaves
// everything as it was.
Change RuleKeeper::push(StoredRules next, Compiled compiled, const Terms& terms) {
    Change change;
    change.before = generation();
    if (!compiled.rules) {
        change.refusal = does_not_compile(std::move(compiled.problems));
        return change;
    }
    change.warnings = std::move(compiled.problems);
    change.rules = compiled.rules->set.rules.size();
    if (change.rules == 0 && !terms.force) {
        change.refusal = Refusal{Refusal::Kind::Empty,
                                 "no rule in the file is on: it would lift every limit; use "
                                 "--force if that is meant",
                                 {}};
        return change;
    }
    next.generation = generation_of(compiled.rules->set);
    const std::optional<TrialEnd> end =
        terms.confirm ? std::optional{end_after(*terms.confirm)} : terms.end;
    Result<PendingFile> pending = end ? store_.prepare(Trial{next, *end}) : store_.prepare(next);
    if (!pending) {
        change.refusal = Refusal{Refusal::Kind::NotKept, pending.error().what, {}};
        return change;
    }
    change.refusal = send(request_of(compiled.rules->set, next, end.has_value()), next.generation);
    if (change.refusal) {
        return change;
    }
    change.after = next.generation;
    if (current() != nullptr) {
        note_ended(*current(), next);
    }
    settle(*std::move(pending), std::move(next), end, terms.remember);
    change.unconfirmed = unconfirmed();
    show(std::move(compiled.rules->rules));
    return change;
}

std::optional<Refusal> RuleKeeper::send(const Request& request, std::uint64_t generation) {
    const Result<Reply> reply = link_.call(request);
    if (!reply) {
        return refusal_of(reply.error());
    }
    const auto* applied = std::get_if<Applied>(&*reply);
    if (applied == nullptr || applied->generation != generation) {
        return Refusal{Refusal::Kind::ByDataplane,
                       "the dataplane understood other rules; are both of one version?",
                       {}};
    }
    return std::nullopt;
}

// The dataplane runs them: what can still fail is told to the log, and puts the set of before in
// force at the next start.
void RuleKeeper::settle(PendingFile pending, StoredRules next, const std::optional<TrialEnd>& end,
                        bool remember) {
    if (remember && !end) {
        remember_before(next.generation);
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
        revert_.reset();
        kept_ = std::move(next);
    }
    store_.drop_old_lists();
}

// The kept set makes room for this one.
void RuleKeeper::remember_before(std::uint64_t next) {
    if (!kept_ || kept_->generation == next) {
        return;
    }
    if (const Result<Done> done = store_.remember(); !done) {
        spdlog::error("there is no way back to the rules of before: {}", done.error().what);
    }
}

// What the file says of each rule's mode, beside the mode that runs.
void RuleKeeper::show(std::vector<RuleSummary> summaries) {
    const StoredRules& rules = *current();
    RuleView next{.generation = rules.generation,
                  .file = rules.file,
                  .text = rules.text,
                  .rules = std::move(summaries),
                  .file_modes = {},
                  .lives = rules.lives,
                  .keys = rules.keys,
                  .unconfirmed = unconfirmed(),
                  .lists = rules.lists,
                  .directory = rules.directory,
                  .applied_by = rules.applied_by,
                  .list_problem = list_problem_,
                  .returns = returns_,
                  .reverts = reverts_};
    for (const auto& [path, text] : rules.lists) {
        next.list_files.insert(list_path(rules.directory, path));
    }
    for (RuleSummary& rule : next.rules) {
        rule.sees_all = true;
        rule.condition = {};  // nobody here asks, and with a large list it is large
    }
    Problems ignored{rules.file};
    const std::optional<CompiledRules> as_written =
        modes_in_force(rules.modes, rules.lives).empty()
            ? std::nullopt
            : compile_rules({rules.file, rules.text, nullptr, &pattern_cache()}, Purpose::Check, {},
                            ignored);
    for (std::size_t i = 0; i < next.rules.size(); ++i) {
        next.file_modes.push_back(as_written ? as_written->rules[i].mode : next.rules[i].mode);
    }
    const std::lock_guard lock{looking_};
    view_ = std::make_shared<const RuleView>(std::move(next));
}

std::shared_ptr<const RuleView> RuleKeeper::view() const {
    const std::lock_guard lock{looking_};
    return view_;
}

}  // namespace sluice
