#include "control/daemon/keeper/live_rules.hpp"

#include "control/daemon/operators_part.hpp"
#include "control/daemon/rule_diff.hpp"
#include "lib/policy/services/stance_text.hpp"
#include "lib/rules/tenant_name.hpp"
#include "lib/wire/codec.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

Refusal refusal_of(const Error& error) {
    switch (error.code) {
        case Errc::Unreachable:
            return {Refusal::Kind::NoDataplane, error.what, {}};
        case Errc::Busy:
            return {Refusal::Kind::Busy, error.what, {}};
        case Errc::TooMany:
            return {Refusal::Kind::TooLarge, error.what, {}};
        default:
            return {Refusal::Kind::ByDataplane, error.what, {}};
    }
}

ApplyRules apply_of(const RuleSet& rules, const StoredRules& next, bool forgive,
                    const DataplaneLink& link) {
    return {rules, next.text, notes_to_json(next), link.seal(rules), forgive};
}

Request request_of(ApplyRules apply, bool on_trial) {
    return on_trial ? Request{TryRules{std::move(apply)}} : Request{std::move(apply)};
}

// The generation by which operators know a set in which a tenant's rules alone are others.
// 0: it is the set's own.
std::uint64_t known_generation(const AppliedRules& applied, const StoredRules& next,
                               bool is_of_tenant) {
    const StoredRules* const now = applied.current();
    if (now == nullptr || !(is_of_tenant || differ_in_tenants_alone(*now, next))) {
        return 0;
    }
    const std::uint64_t known = operators_generation(*now);
    return known == next.generation ? 0 : known;
}

// When the set goes back; nullopt: it is meant to stay.
std::optional<TrialEnd> end_of(const PushTerms& terms, const AppliedRules& applied) {
    if (!terms.confirm) {
        return terms.end;
    }
    TrialEnd end = applied.end_after(*terms.confirm);
    end.forgives = terms.forgive;
    return end;
}

// Rules of tenants are on whatever the operator applies.
std::size_t operators_rules(const RuleSet& set) {
    return static_cast<std::size_t>(std::ranges::count_if(
        set.rules, [](const Rule& rule) { return tenant_of(rule.id).empty(); }));
}

// The reason for a tenant's change not to be made: its rules would stand aside, or those of another
// would that do not now. nullopt: there is none.
std::optional<std::string> why_not_beside_others(const LiveRules::TenantEdit& of,
                                                 const TenantsAside& aside,
                                                 const TenantsAside& before) {
    if (const auto own = aside.find(of.tenant); own != aside.end()) {
        return own->second;
    }
    const bool leaves_all =
        std::ranges::all_of(aside, [&](const auto& one) { return before.contains(one.first); });
    return leaves_all ? std::nullopt
                      : std::optional<std::string>{
                            "the box has no room for these rules beside "
                            "those of others"};
}

// A set's line of the history. The same source again is one set there, with the note that it came
// with; an empty `call` leaves the note that the set has.
std::string note_on(const StoredRules& next, const CompiledRules& compiled, const std::string& call,
                    const LiveRules& rules) {
    if (const StoredRules* same = rules.applied.same_as(next)) {
        return same->note;
    }
    return call.empty() ? next.note : note_of(call, diff_of(*rules.board.view(), compiled));
}

}  // namespace

std::optional<Refusal> send_rules(DataplaneLink& link, const Request& request,
                                  std::uint64_t generation) {
    const Result<Reply> reply = link.call(request);
    if (!reply) {
        return refusal_of(reply.error());
    }
    const auto* answer = std::get_if<Applied>(&*reply);
    if (answer == nullptr || answer->generation != generation) {
        return Refusal{Refusal::Kind::ByDataplane,
                       "the dataplane understood other rules; are both of one version?",
                       {}};
    }
    return std::nullopt;
}

RuleChange LiveRules::push(StoredRules next, Compiled compiled, const PushTerms& terms) {
    RuleChange change;
    change.before = applied.generation();
    change.refusal = not_in_force(terms.in_place_of);
    if (change.refusal) {
        return change;
    }
    if (terms.strict && !compiled.problems.empty()) {
        make_warnings_errors(compiled.problems);
        compiled.rules.reset();
    }
    if (!compiled.rules) {
        change.refusal = does_not_compile(std::move(compiled.problems));
        return change;
    }
    change.warnings = std::move(compiled.problems);
    change.rules = operators_rules(compiled.rules->set);
    change.anywhere = rules_anywhere(compiled.rules->rules);
    if (change.rules == 0 && !terms.force) {
        change.refusal = Refusal{Refusal::Kind::Empty,
                                 "no rule in the file is on: it would lift every limit; use "
                                 "--force if that is meant",
                                 {}};
        return change;
    }
    next.generation = generation_of(compiled.rules->set);
    next.operators_generation = known_generation(applied, next, terms.of_tenant);
    next.on = change.rules;
    next.note = note_on(next, *compiled.rules, terms.call, *this);
    const std::optional<TrialEnd> end = end_of(terms, applied);
    if (end && applied.trial()) {
        const ModeOverrides& before = applied.trial()->rules.set_on_trial;
        next.set_on_trial.insert(before.begin(), before.end());
    }
    Result<PendingChange> pending = applied.prepare(next, end, terms.remember);
    if (!pending) {
        change.refusal = Refusal{Refusal::Kind::NotKept, pending.error().what, {}};
        return change;
    }
    const bool forgives_now = terms.forgive && !end;
    board.note_sending();
    change.refusal = send_rules(
        link, request_of(apply_of(compiled.rules->set, next, forgives_now, link), end.has_value()),
        next.generation);
    if (change.refusal) {
        return change;
    }
    change.after = next.generation;
    if (applied.current() != nullptr) {
        record_ends(*applied.current(), next);
    }
    applied.settle(*std::move(pending), std::move(next), end, terms.remember);
    if (!end) {
        reverts.forget();
    }
    change.unconfirmed = applied.unconfirmed();
    board.show(applied, &*compiled.rules);
    return change;
}

std::optional<Refusal> LiveRules::not_in_force(const std::optional<std::string>& wanted) const {
    const std::string running = generation_text(applied.generation());
    const std::string generation = applied.current() == nullptr
                                       ? running
                                       : generation_text(operators_generation(*applied.current()));
    if (!wanted || *wanted == generation || *wanted == running ||
        (applied.current() != nullptr && *wanted == tag_of(*applied.current()))) {
        return std::nullopt;
    }
    const bool same_rules = wanted->starts_with(generation + "-");
    return Refusal{Refusal::Kind::OthersInForce,
                   (same_rules ? "the text of the rules, or what was set at run time, is another "
                                 "than that of " +
                                     *wanted
                               : "generation " + generation + " is in force, not " + *wanted +
                                     " (a ban or numbers of a key make another one too, as they "
                                     "are set and as they end)") +
                       ": look at what has changed, and apply again",
                   {}};
}

void LiveRules::record_ends(const StoredRules& before, const StoredRules& after) {
    for (const auto& [id, life] : after.lives) {
        const auto old = before.lives.find(id);
        if (life.ended && old != before.lives.end() && !old->second.ended) {
            spdlog::info("the rule {} has ended: its ttl has run out", id);
            audit.write({.call = "ttl " + id,
                         .before = generation_text(before.generation),
                         .after = generation_text(after.generation),
                         .outcome = "the rule has ended"});
        }
    }
}

void LiveRules::end_trial(const std::string& why) {
    reverts.begin(applied.generation(), why);
    board.count_revert();
    board.count_return();
    board.set_list_problem("");
    spdlog::warn("generation {:016x} {}; going back to {:016x}", applied.generation(), why,
                 applied.kept() ? applied.kept()->generation : 0);
    record_modes_on_trial();
    is_behind = applied.abandon_trial() || is_behind;
}

void LiveRules::record_modes_on_trial() {
    if (!applied.trial()) {
        return;
    }
    for (const auto& [id, mode] : applied.trial()->rules.set_on_trial) {
        const std::string_view word = kModeNames[static_cast<std::size_t>(mode)];
        audit.write({.call = fmt::format("mode {} {}", id, word),
                     .before = generation_text(applied.generation()),
                     .after = generation_text(applied.kept() ? applied.kept()->generation : 0),
                     .outcome = fmt::format("done: set on a trial that goes back, the mode goes {}",
                                            goes_on_after_trial(mode) ? "on" : "with it")});
    }
}

RuleChange LiveRules::change(const Author& from, const Edit& edit) {
    const Edit stamped = [&](StoredRules& next) {
        next.changed_at = applied.now();
        next.changed_by = from;
        return edit(next);
    };
    return change_unstamped(stamped);
}

RuleChange LiveRules::change_unstamped(const Edit& edit, const TenantEdit* of) {
    CompileTries tries{changing};
    for (;;) {
        if (std::optional<RuleChange> done = try_change(edit, of, tries)) {
            return *std::move(done);
        }
    }
}

std::optional<RuleChange> LiveRules::try_change(const Edit& edit, const TenantEdit* of,
                                                CompileTries& tries) {
    tries.lock();
    if (applied.current() == nullptr) {
        return refused(0, {of == nullptr ? Refusal::Kind::NoSuchRule : Refusal::Kind::NoRulesYet,
                           "no rules were ever applied",
                           {}});
    }
    StoredRules next = *applied.current();
    const std::uint64_t edition = applied.edition();
    forget_ended(next.keys, applied.now());
    if (std::optional<Refusal> refusal = edit(next)) {
        return refused(applied.generation(), *std::move(refusal));
    }
    const bool is_alone = tries.begin_compile();
    Compiled compiled = compile_now(next);
    for (KeySetting& setting : next.keys) {
        setting.is_new = false;
    }
    tries.lock();
    if ((!is_alone && applied.edition() != edition) || !applied.renew_lives(next, compiled)) {
        return std::nullopt;
    }
    if (of != nullptr && of->is_needed && compiled.rules) {
        if (const std::optional<std::string> why =
                why_not_beside_others(*of, compiled.rules->aside, board.view()->aside)) {
            return refused(applied.generation(), {Refusal::Kind::DoesNotCompile, *why, {}});
        }
    }
    return push_edited(std::move(next), std::move(compiled), of != nullptr);
}

}  // namespace sluice
