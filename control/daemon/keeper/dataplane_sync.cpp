#include "control/daemon/keeper/dataplane_sync.hpp"

#include "control/daemon/nobody.hpp"
#include "lib/wire/codec.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

// The dataplane keeps the text of the rules, without the user who applied it: their lists are read
// with the rights of `nobody`.
StoredRules stored(RunningRules running, std::int64_t now) {
    std::vector<FileSlice> slices = slices_from_json(running.modes, running.source);
    std::string folder = slices.empty() ? "" : slices.front().folder;
    return {.file = "(from the dataplane)",
            .text = std::move(running.source),
            .modes = modes_from_json(running.modes),
            .lives = lives_from_json(running.modes),
            .generation = running.generation,
            .changed_at = now,
            .directory = std::move(folder),
            .applied_by = ::geteuid() == 0 ? kNobody : ::geteuid(),
            .keys = keys_from_json(running.modes),
            .slices = std::move(slices),
            .note = "taken over from the dataplane",
            .tenants = tenants_from_json(running.modes)};
}

}  // namespace

bool DataplaneSync::meet(const Welcome& dataplane) {
    const std::lock_guard lock{rules_.changing};
    const bool fits_box = show_for(rules_.link.rss_mapping());
    const AppliedRules& applied = rules_.applied;
    if (applied.trial() && dataplane.generation != applied.trial()->rules.generation) {
        rules_.end_trial("is not what the dataplane runs any more");
    } else if (applied.trial_is_over()) {
        rules_.end_trial("was not confirmed in time");
    }
    if (applied.current() == nullptr) {
        rules_.board.set_problem({});  // of the rules of a dataplane before
        return dataplane.generation == 0 || adopt(dataplane);
    }
    const bool fits = fits_box && !rules_.is_behind;
    // Rules on trial stay as they were tried.
    if (dataplane.generation == applied.generation() && (fits || applied.trial())) {
        spdlog::info("re-attached to dataplane {}: it runs generation {:016x}", dataplane.pid,
                     dataplane.generation);
        follow_revert();
        return true;
    }
    spdlog::info("dataplane {} runs generation {:016x}; bringing it ours{}", dataplane.pid,
                 dataplane.generation, fits ? "" : ", for ports that spread frames in another way");
    return bring_kept();
}

bool DataplaneSync::follow_box() {
    const std::lock_guard lock{rules_.changing};
    // Rules on trial stay as they were tried.
    return show_for(rules_.link.rss_mapping()) || rules_.applied.trial() || bring_kept();
}

// The local limits depend on the box; nothing else of the rules does. False: for this one they are
// others than those in force.
bool DataplaneSync::show_for(const RssMapping& box) {
    if (rules_.applied.current() == nullptr || shown_for_ == box) {
        return true;
    }
    StoredRules rules = *rules_.applied.current();
    Compiled compiled = compile(rules, box);
    if (!compiled.rules) {
        rules_.board.set_problem(compiled.problems);
        return !compiled.no_memory;
    }
    rules_.board.show(rules_.applied, &*compiled.rules);
    shown_for_ = box;
    return generation_of(compiled.rules->set) == rules.generation;
}

// A trial ended, and the dataplane runs what was kept before it already.
void DataplaneSync::follow_revert() {
    if (rules_.reverts.is_open()) {
        Compiled compiled = rules_.applied.compile_current(rules_.link.rss_mapping());
        rules_.board.show(rules_.applied, compiled.rules ? &*compiled.rules : nullptr);
        if (!compiled.rules) {
            rules_.board.set_problem(compiled.problems);
        }
        rules_.reverts.finish(rules_.applied.generation());
    }
}

bool DataplaneSync::bring_kept() {
    StoredRules rules = *rules_.applied.kept();
    Compiled compiled = rules_.compile_now(rules);
    std::optional<Refusal> refusal;
    if (compiled.rules) {
        forget_modes_of_others(rules.modes, *compiled.rules);
        refusal = bring(std::move(rules), compiled.rules->set);
        rules_.board.show(rules_.applied, &*compiled.rules);
    } else {
        rules_.board.show(rules_.applied, nullptr);
        rules_.board.set_problem(compiled.problems);
        refusal = does_not_compile(std::move(compiled.problems));
    }
    rules_.is_behind = rules_.is_behind && refusal.has_value();
    if (refusal) {
        spdlog::error("could not bring the rules to the dataplane: {}", refusal->what);
        return refusal->kind == Refusal::Kind::DoesNotCompile && !compiled.no_memory;
    }
    rules_.applied.drop_old_lists();
    spdlog::info("the dataplane runs generation {:016x} now", rules_.applied.kept()->generation);
    rules_.reverts.finish(rules_.applied.generation());
    return true;
}

std::optional<Refusal> DataplaneSync::bring(StoredRules rules, const RuleSet& set) {
    rules.generation = generation_of(set);
    rules_.board.note_sending();
    std::optional<Refusal> refusal = send_rules(
        rules_.link, ApplyRules{set, rules.text, notes_to_json(rules), rules_.link.seal(set)},
        rules.generation);
    if (refusal) {
        return refusal;
    }
    if (rules_.applied.kept()) {
        rules_.record_ends(*rules_.applied.kept(), rules);
    }
    rules_.applied.keep(std::move(rules));
    return std::nullopt;
}

// No rules are known here, but the dataplane runs some.
bool DataplaneSync::adopt(const Welcome& dataplane) {
    Result<Reply> reply = rules_.link.call(GetRules{});
    auto* running = reply ? std::get_if<RunningRules>(&*reply) : nullptr;
    if (running == nullptr) {
        return false;
    }
    StoredRules rules = stored(std::move(*running), rules_.applied.now());
    Compiled compiled = compile(rules, rules_.link.rss_mapping());
    if (compiled.no_memory) {
        spdlog::error("no memory to take over the rules of dataplane {}; trying again",
                      dataplane.pid);
        return false;
    }
    if (!compiled.rules) {
        spdlog::error("dataplane {} runs rules that do not compile here; it keeps them",
                      dataplane.pid);
        rules_.board.set_problem(compiled.problems);
        return true;
    }
    rules_.applied.keep(std::move(rules));
    rules_.board.show(rules_.applied, &*compiled.rules);
    spdlog::info("took over generation {:016x} from dataplane {}", rules_.applied.generation(),
                 dataplane.pid);
    return true;
}

}  // namespace sluice
