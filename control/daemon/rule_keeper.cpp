#include "control/daemon/rule_keeper.hpp"

#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

namespace sluice {
namespace {

struct Compiled {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;
};

Compiled compile(const StoredRules& rules) {
    Problems problems{rules.file};
    std::optional<CompiledRules> compiled =
        compile_rules({rules.file, rules.text}, Purpose::Enforce, rules.modes, problems);
    return {std::move(compiled), problems.list()};
}

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

Refusal does_not_compile(std::vector<Problem> problems) {
    const auto errors = std::count_if(problems.begin(), problems.end(), [](const Problem& problem) {
        return problem.severity == Severity::Error;
    });
    return {Refusal::Kind::DoesNotCompile,
            errors == 1 ? "there is an error" : std::to_string(errors) + " errors",
            std::move(problems)};
}

}  // namespace

RuleKeeper::RuleKeeper(Store store, DataplaneLink& link) : link_{link}, store_{std::move(store)} {
    Result<std::optional<StoredRules>> stored = store_.load();
    if (!stored) {
        spdlog::error("{}", stored.error().what);
        return;
    }
    if (!*stored) {
        return;
    }
    Compiled compiled = compile(**stored);
    if (!compiled.rules) {
        spdlog::error("the stored rules do not compile any more; the dataplane keeps what it has");
    }
    show(**stored, compiled.rules ? std::move(compiled.rules->rules) : std::vector<RuleSummary>{});
    current_ = *std::move(*stored);
}

Change RuleKeeper::apply(RuleFile file) {
    const std::lock_guard lock{changing_};
    return push({.file = std::move(file.name),
                 .text = std::move(file.text),
                 .modes = {},
                 .changed_at = std::time(nullptr),
                 .changed_by = file.from},
                file.force);
}

Change RuleKeeper::set_mode(const std::string& rule, Mode mode, uid_t from) {
    const std::lock_guard lock{changing_};
    const std::shared_ptr<const RuleView> shown = view();
    const auto found = std::find_if(shown->rules.begin(), shown->rules.end(),
                                    [&](const RuleSummary& known) { return known.id == rule; });
    if (!current_ || found == shown->rules.end()) {
        Change change;
        change.before = shown->generation;
        change.refusal = Refusal{Refusal::Kind::NoSuchRule, "there is no rule " + rule, {}};
        return change;
    }
    StoredRules next = *current_;
    next.modes[rule] = mode;
    if (shown->file_modes[static_cast<std::size_t>(found - shown->rules.begin())] == mode) {
        next.modes.erase(rule);
    }
    next.changed_at = std::time(nullptr);
    next.changed_by = from;
    return push(std::move(next), true);
}

// Compiles, writes beside the old, sends, takes the old one's place; in this order, so that a
// failure leaves everything as it was.
Change RuleKeeper::push(StoredRules next, bool force) {
    Change change;
    change.before = current_ ? current_->generation : 0;
    Compiled compiled = compile(next);
    if (!compiled.rules) {
        change.refusal = does_not_compile(std::move(compiled.problems));
        return change;
    }
    change.warnings = std::move(compiled.problems);
    change.rules = compiled.rules->set.rules.size();
    if (change.rules == 0 && !force) {
        change.refusal = Refusal{Refusal::Kind::Empty,
                                 "no rule in the file is on: it would lift every limit; use "
                                 "--force if that is meant",
                                 {}};
        return change;
    }
    next.generation = generation_of(compiled.rules->set);
    Result<PendingRules> pending = store_.prepare(next);
    if (!pending) {
        change.refusal = Refusal{Refusal::Kind::NotKept, pending.error().what, {}};
        return change;
    }
    change.refusal = send(compiled.rules->set, next);
    if (change.refusal) {
        return change;
    }
    if (const Result<Done> kept = pending->commit(); !kept) {
        spdlog::error("the rules are in force, but may be lost at a restart: {}",
                      kept.error().what);
    }
    change.after = next.generation;
    show(next, std::move(compiled.rules->rules));
    current_ = std::move(next);
    return change;
}

std::optional<Refusal> RuleKeeper::send(const RuleSet& rules, const StoredRules& next) {
    const Result<Reply> reply = link_.call(ApplyRules{rules, next.text, modes_to_json(next.modes)});
    if (!reply) {
        return refusal_of(reply.error());
    }
    const auto* applied = std::get_if<Applied>(&*reply);
    if (applied == nullptr || applied->generation != next.generation) {
        return Refusal{Refusal::Kind::ByDataplane,
                       "the dataplane understood other rules; are both of one version?",
                       {}};
    }
    return std::nullopt;
}

// What the file says of each rule's mode, beside the mode that runs.
void RuleKeeper::show(const StoredRules& rules, std::vector<RuleSummary> summaries) {
    RuleView next{rules.generation, rules.file, rules.text, std::move(summaries), {}};
    Problems ignored{rules.file};
    const std::optional<CompiledRules> as_written =
        rules.modes.empty() ? std::nullopt
                            : compile_rules({rules.file, rules.text}, Purpose::Check, {}, ignored);
    for (std::size_t i = 0; i < next.rules.size(); ++i) {
        next.file_modes.push_back(as_written ? as_written->rules[i].mode : next.rules[i].mode);
    }
    const std::lock_guard lock{looking_};
    view_ = std::make_shared<const RuleView>(std::move(next));
}

bool RuleKeeper::meet(const Welcome& dataplane) {
    const std::lock_guard lock{changing_};
    if (!current_) {
        return dataplane.generation == 0 || adopt(dataplane);
    }
    if (dataplane.generation == current_->generation) {
        spdlog::info("re-attached to dataplane {}: it runs generation {:016x}", dataplane.pid,
                     dataplane.generation);
        return true;
    }
    spdlog::info("dataplane {} runs generation {:016x}; bringing it ours", dataplane.pid,
                 dataplane.generation);
    const Change change = push(*current_, true);
    if (!change.refusal) {
        spdlog::info("dataplane {} runs generation {:016x} now", dataplane.pid, change.after);
        return true;
    }
    spdlog::error("could not bring the rules to the dataplane: {}", change.refusal->what);
    return change.refusal->kind == Refusal::Kind::DoesNotCompile;
}

// We know of no rules, but the dataplane runs some: their text lies beside them.
bool RuleKeeper::adopt(const Welcome& dataplane) {
    Result<Reply> reply = link_.call(GetRules{});
    auto* running = reply ? std::get_if<RunningRules>(&*reply) : nullptr;
    if (running == nullptr) {
        return false;
    }
    StoredRules rules{.file = "(from the dataplane)",
                      .text = std::move(running->source),
                      .modes = modes_from_json(running->modes),
                      .generation = running->generation,
                      .changed_at = std::time(nullptr)};
    Compiled compiled = compile(rules);
    if (!compiled.rules) {
        spdlog::error("dataplane {} runs rules that do not compile here; it keeps them",
                      dataplane.pid);
        return true;
    }
    Result<PendingRules> pending = store_.prepare(rules);
    const Result<Done> kept = pending ? pending->commit() : Result<Done>{pending.error()};
    if (!kept) {
        spdlog::error("the rules of the dataplane are not kept: {}", kept.error().what);
    }
    show(rules, std::move(compiled.rules->rules));
    current_ = std::move(rules);
    spdlog::info("took over generation {:016x} from dataplane {}", running->generation,
                 dataplane.pid);
    return true;
}

std::shared_ptr<const RuleView> RuleKeeper::view() const {
    const std::lock_guard lock{looking_};
    return view_;
}

}  // namespace sluice
