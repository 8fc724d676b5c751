#include "control/daemon/rule_keeper.hpp"

#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

namespace sluice {
namespace {

Refusal::Kind kind_of(const Error& error) {
    return error.code == Errc::Unreachable ? Refusal::Kind::NoDataplane : Refusal::Kind::Failed;
}

}  // namespace

RuleKeeper::RuleKeeper(Store store, DataplaneLink& link) : store_{std::move(store)}, link_{link} {
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
    } else {
        show(**stored, std::move(compiled.rules->rules));
    }
    current_ = *std::move(*stored);
}

RuleKeeper::Compiled RuleKeeper::compile(const StoredRules& rules) {
    Problems problems{rules.file};
    std::optional<CompiledRules> compiled =
        compile_rules({rules.file, rules.text}, Purpose::Enforce, rules.modes, problems);
    return {std::move(compiled), problems.list()};
}

Change RuleKeeper::apply(const std::string& text, const std::string& file, bool force) {
    const std::lock_guard lock{mutex_};
    return push({.file = file, .text = text, .modes = {}, .generation = 0}, force);
}

Change RuleKeeper::set_mode(const std::string& rule, Mode mode) {
    const std::lock_guard lock{mutex_};
    const auto known = [&](const RuleSummary& summary) { return summary.id == rule; };
    if (!current_ || std::none_of(summaries_.begin(), summaries_.end(), known)) {
        Change change;
        change.refusal = Refusal{Refusal::Kind::NoSuchRule, "there is no rule " + rule, {}};
        return change;
    }
    StoredRules next = *current_;
    next.modes[rule] = mode;
    return push(std::move(next), true);
}

// Compiles, sends, keeps; in this order, so that a failure leaves everything as it was.
Change RuleKeeper::push(StoredRules next, bool force) {
    Change change;
    change.before = current_ ? current_->generation : 0;
    Compiled compiled = compile(next);
    change.warnings = compiled.problems;
    if (!compiled.rules) {
        change.refusal = Refusal{Refusal::Kind::DoesNotCompile, "the rules do not compile",
                                 std::move(compiled.problems)};
        return change;
    }
    change.rules = compiled.rules->set.rules.size();
    if (change.rules == 0 && !force) {
        change.refusal = Refusal{Refusal::Kind::Empty,
                                 "the file has no rule that is on: it would lift every limit; use "
                                 "--force if that is meant",
                                 {}};
        return change;
    }
    next.generation = generation_of(compiled.rules->set);
    const Result<Reply> reply =
        link_.call(ApplyRules{compiled.rules->set, next.text, modes_to_json(next.modes)});
    if (!reply) {
        change.refusal = Refusal{kind_of(reply.error()), reply.error().what, {}};
        return change;
    }
    show(next, std::move(compiled.rules->rules));
    change.after = next.generation;
    current_ = std::move(next);
    if (const Result<Done> saved = store_.save(*current_); !saved) {
        spdlog::error("the rules are in force, but not kept: {}", saved.error().what);
        change.refusal =
            Refusal{Refusal::Kind::Failed,
                    "the rules are in force, but could not be kept on disk: " + saved.error().what,
                    {}};
    }
    return change;
}

// What the file says of each rule's mode, beside the mode that runs.
void RuleKeeper::show(const StoredRules& rules, std::vector<RuleSummary> summaries) {
    Problems ignored{rules.file};
    const std::optional<CompiledRules> as_written =
        compile_rules({rules.file, rules.text}, Purpose::Check, {}, ignored);
    file_modes_.clear();
    for (std::size_t i = 0; i < summaries.size(); ++i) {
        file_modes_.push_back(as_written ? as_written->rules[i].mode : summaries[i].mode);
    }
    summaries_ = std::move(summaries);
}

void RuleKeeper::meet(const Welcome& dataplane) {
    const std::lock_guard lock{mutex_};
    if (current_ && dataplane.generation == current_->generation) {
        spdlog::info("re-attached to dataplane {}: it runs generation {:016x}", dataplane.pid,
                     dataplane.generation);
        return;
    }
    if (!current_) {
        if (dataplane.generation != 0) {
            adopt(dataplane);
        }
        return;
    }
    spdlog::info("dataplane {} runs generation {:016x}; bringing it ours", dataplane.pid,
                 dataplane.generation);
    const Change change = push(*current_, true);
    if (change.refusal) {
        spdlog::error("could not bring the rules to the dataplane: {}", change.refusal->what);
    }
}

// We know of no rules, but the dataplane runs some: their text lies beside them.
void RuleKeeper::adopt(const Welcome& dataplane) {
    const Result<Reply> reply = link_.call(GetRules{});
    const RunningRules* running = reply ? std::get_if<RunningRules>(&*reply) : nullptr;
    if (running == nullptr) {
        return;
    }
    StoredRules rules{.file = "(from the dataplane)",
                      .text = running->source,
                      .modes = modes_from_json(running->modes),
                      .generation = running->generation};
    Compiled compiled = compile(rules);
    if (!compiled.rules) {
        spdlog::error("dataplane {} runs rules that do not compile here; it keeps them",
                      dataplane.pid);
        return;
    }
    show(rules, std::move(compiled.rules->rules));
    current_ = std::move(rules);
    if (const Result<Done> saved = store_.save(*current_); !saved) {
        spdlog::error("{}", saved.error().what);
    }
    spdlog::info("took over generation {:016x} from dataplane {}", dataplane.generation,
                 dataplane.pid);
}

RuleKeeper::View RuleKeeper::view() {
    const std::lock_guard lock{mutex_};
    if (!current_) {
        return {};
    }
    return {current_->generation, current_->file, current_->text, summaries_, file_modes_};
}

}  // namespace sluice
