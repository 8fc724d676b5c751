#include "control/daemon/rule_keeper.hpp"
#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

#include <unistd.h>

// How the rules on the disk and those that a dataplane runs become the same again.
namespace sluice {
namespace {

constexpr uid_t kNobody = 65'534;

}  // namespace

// What the last sluiced left, wherever it ended.
void RuleKeeper::load() {
    Result<std::optional<StoredRules>> kept = store_.load();
    Result<std::optional<Trial>> trial = store_.load_trial();
    const bool is_lost = !kept;
    if (is_lost) {
        spdlog::error("{}", kept.error().what);
    } else {
        kept_ = *std::move(kept);
    }
    if (!trial) {
        spdlog::error("{}; the unconfirmed rules go", trial.error().what);
        return;
    }
    trial_ = *std::move(trial);
    if (trial_ && is_lost) {
        spdlog::error("the rules to go back to are lost: those on trial stay");
        forget_trial();
    } else if (trial_ && is_over(*trial_)) {
        end_trial("was not confirmed in time");
    } else if (trial_) {
        spdlog::info("generation {:016x} is still to be confirmed", trial_->rules.generation);
    }
}

// Which limits are local depends on the box; nothing else of the rules does. False: for this one
// they are others than those in force.
bool RuleKeeper::show_for(const BoxSpread& box) {
    if (current() == nullptr || shown_for_ == box) {
        return true;
    }
    StoredRules rules = *current();
    Compiled compiled = compile(rules, box);
    if (!compiled.rules) {
        return true;
    }
    show(std::move(compiled.rules->rules));
    shown_for_ = box;
    return generation_of(compiled.rules->set) == rules.generation;
}

bool RuleKeeper::follow_box() {
    const std::lock_guard lock{changing_};
    // Rules on trial stay as they were tried.
    return show_for(link_.spread()) || trial_ || bring_kept();
}

bool RuleKeeper::meet(const Welcome& dataplane) {
    const std::lock_guard lock{changing_};
    const bool fits = show_for(dataplane.spread);
    if (trial_ && dataplane.generation != trial_->rules.generation) {
        end_trial("is not what the dataplane runs any more");
    } else if (trial_ && is_over(*trial_)) {
        end_trial("was not confirmed in time");
    }
    if (current() == nullptr) {
        return dataplane.generation == 0 || adopt(dataplane);
    }
    // Rules on trial stay as they were tried.
    if (dataplane.generation == generation() && (fits || trial_)) {
        spdlog::info("re-attached to dataplane {}: it runs generation {:016x}", dataplane.pid,
                     dataplane.generation);
        follow_revert();
        return true;
    }
    spdlog::info("dataplane {} runs generation {:016x}; bringing it ours{}", dataplane.pid,
                 dataplane.generation, fits ? "" : ", for ports that spread frames in another way");
    return bring_kept();
}

// A trial ended, and the dataplane runs what was kept before it already.
void RuleKeeper::follow_revert() {
    if (revert_) {
        Compiled compiled = compile(*kept_, link_.spread());
        show(compiled.rules ? std::move(compiled.rules->rules) : std::vector<RuleSummary>{});
        tell_of_revert();
    }
}

// False: worth another try.
bool RuleKeeper::bring_kept() {
    StoredRules rules = *kept_;
    Compiled compiled = compile_at(rules, now_(), link_.spread());
    std::optional<Refusal> refusal;
    if (compiled.rules) {
        refusal = bring(std::move(rules), compiled.rules->set);
        show(std::move(compiled.rules->rules));
    } else {
        refusal = does_not_compile(std::move(compiled.problems));
        show({});
    }
    if (refusal) {
        spdlog::error("could not bring the rules to the dataplane: {}", refusal->what);
        return refusal->kind == Refusal::Kind::DoesNotCompile;
    }
    store_.drop_old_lists();
    spdlog::info("the dataplane runs generation {:016x} now", kept_->generation);
    tell_of_revert();
    return true;
}

// Those that are kept, to the dataplane, and only if need be to the disk: rules that lie there
// already come back also when it takes no more.
std::optional<Refusal> RuleKeeper::bring(StoredRules rules, const RuleSet& set) {
    rules.generation = generation_of(set);
    std::optional<Refusal> refusal =
        send(ApplyRules{set, rules.text, notes_to_json(rules)}, rules.generation);
    if (refusal) {
        return refusal;
    }
    if (!kept_ || kept_->generation != rules.generation || kept_->lives != rules.lives ||
        kept_->lists != rules.lists) {
        // They were never kept, one of them has ended, the copy of a list was lost, or another
        // version of sluiced understood them in another way.
        Result<PendingFile> pending = store_.prepare(rules);
        const Result<Done> done = pending ? pending->commit() : Result<Done>{pending.error()};
        if (!done) {
            spdlog::error("the rules are in force, but not kept: {}", done.error().what);
        }
    }
    if (kept_) {
        note_ended(*kept_, rules);
    }
    kept_ = std::move(rules);
    return std::nullopt;
}

// We know of no rules, but the dataplane runs some: their text lies beside them, and not who
// applied them, so that their lists are read with nobody's rights.
bool RuleKeeper::adopt(const Welcome& dataplane) {
    Result<Reply> reply = link_.call(GetRules{});
    auto* running = reply ? std::get_if<RunningRules>(&*reply) : nullptr;
    if (running == nullptr) {
        return false;
    }
    StoredRules rules{.file = "(from the dataplane)",
                      .text = std::move(running->source),
                      .modes = modes_from_json(running->modes),
                      .lives = lives_from_json(running->modes),
                      .generation = running->generation,
                      .changed_at = now_(),
                      .applied_by = ::geteuid() == 0 ? kNobody : ::geteuid(),
                      .keys = keys_from_json(running->modes)};
    Compiled compiled = compile(rules, link_.spread());
    if (!compiled.rules) {
        spdlog::error("dataplane {} runs rules that do not compile here; it keeps them",
                      dataplane.pid);
        return true;
    }
    Result<PendingFile> pending = store_.prepare(rules);
    const Result<Done> kept = pending ? pending->commit() : Result<Done>{pending.error()};
    if (!kept) {
        spdlog::error("the rules of the dataplane are not kept: {}", kept.error().what);
    }
    kept_ = std::move(rules);
    show(std::move(compiled.rules->rules));
    spdlog::info("took over generation {:016x} from dataplane {}", running->generation,
                 dataplane.pid);
    return true;
}

}  // namespace sluice
