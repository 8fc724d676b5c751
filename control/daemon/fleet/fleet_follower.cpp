#include "control/daemon/fleet/fleet_follower.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kShownSum = 12;  // digits

std::string set_text(const HeadSet& set) {
    return fmt::format("generation {} ({})", set.generation, set.set.sum.substr(0, kShownSum));
}

// The first error, as a line.
std::string first_error(const std::vector<Problem>& problems) {
    const auto found = std::ranges::find(problems, Severity::Error, &Problem::severity);
    if (found == problems.end()) {
        return "it does not compile";
    }
    return fmt::format("{}:{}:{}: {}", found->file, found->at.line, found->at.column,
                       found->message);
}

std::string refusal_text(const Refusal& refusal) {
    return refusal.problems.empty() ? refusal.what : first_error(refusal.problems);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

// A box without a slot follows nobody.
void FleetFollower::tick(Clock::time_point now, bool hinted) {
    const Membership membership = board_.status().membership;
    const bool is_of_it = membership == Membership::Member || membership == Membership::Away;
    if (is_of_it && (hinted || now >= read_at_)) {
        read_at_ = now + kRead;
        const Result<FleetView> view = store_.view();
        if (view) {
            follow(*view, now);
        } else if (view.error().code == Errc::BadSyntax) {
            tell(view.error().what);
        }
    }
    show();
}

void FleetFollower::follow(const FleetView& view, Clock::time_point now) {
    const std::uint64_t head = view.head ? view.head->value.now.generation : 0;
    board_.change([&](FleetStatus& status) { status.head = head; });
    if (view.panic) {
        follow_panic(*view.panic);
    }
    if (view.rollout && view.rollout->value.next.generation > state_.adopted.generation) {
        stage(view.rollout->value);
        try_rollout(view.rollout->value);
    }
    if (state_.trial && (!view.rollout || view.rollout->value.id != state_.trial->rollout)) {
        end_trial(view);
    }
    if (head < state_.adopted.generation) {
        tell(head == 0 ? fmt::format("etcd has no rules, and this box has those of {}: it keeps "
                                     "them",
                                     set_text(state_.adopted))
                       : fmt::format("etcd has the older {}, and this box {}: it keeps them",
                                     set_text(view.head->value.now), set_text(state_.adopted)));
    } else if (view.head && !state_.trial && head > state_.adopted.generation) {
        adopt(view.head->value.now, now);
    } else if (head == state_.adopted.generation &&
               !(view.rollout && view.rollout->value.id == ended_)) {
        tell("");
    }
}

Result<RuleFile> FleetFollower::fetch(const HeadSet& set) {
    const Result<std::string> bytes = store_.download(set.set);
    if (!bytes) {
        return bytes.error();
    }
    Result<SetArchive> archive = archive_from(*bytes);
    if (!archive) {
        return archive.error();
    }
    RuleFiles& files = archive->files;
    return RuleFile{.name = std::move(files.label),
                    .text = std::move(files.text),
                    .from = Author{::getuid()},
                    .directory = std::move(files.folder),
                    .lists = std::move(archive->lists),
                    .slices = std::move(files.slices)};
}

StagedSet FleetFollower::judge(const Rollout& rollout) {
    StagedSet verdict{.rollout = rollout.id};
    Result<RuleFile> file = fetch(rollout.next);
    if (!file) {
        verdict.why = file.error().what;
        return verdict;
    }
    if (!box_.link.status().connected) {
        verdict.why = "its dataplane is away";
        return verdict;
    }
    const std::optional<Compiled> compiled = box_.rules.preview(*std::move(file));
    if (!compiled) {
        verdict.rollout.clear();  // another preview took its place: once more
    } else if (!compiled->rules) {
        verdict.why = first_error(compiled->problems);
    } else if (compiled->rules->set.rules.empty() && !rollout.force) {
        verdict.why = "no rule in it is on: it would lift every limit; --force applies it";
    } else {
        verdict.is_good = true;
    }
    return verdict;
}

void FleetFollower::stage(const Rollout& rollout) {
    if (staged_.rollout == rollout.id) {
        return;
    }
    staged_ = judge(rollout);
    if (staged_.is_good) {
        spdlog::info("{} of the cluster is staged", set_text(rollout.next));
    } else if (!staged_.rollout.empty()) {
        spdlog::error("{} of the cluster cannot be in force here: {}", set_text(rollout.next),
                      staged_.why);
    }
}

// The timer is the box's own: it ends the trial wherever the rest of the cluster is.
void FleetFollower::try_rollout(const Rollout& rollout) {
    const bool is_meant =
        rollout.is_staged && (rollout.is_everywhere || has(rollout.nodes, board_.options().node));
    if (!is_meant || ended_ == rollout.id || staged_.rollout != rollout.id || !staged_.is_good ||
        (state_.trial && state_.trial->rollout == rollout.id)) {
        return;
    }
    Result<RuleFile> file = fetch(rollout.next);
    if (!file) {
        tell(file.error().what);
        return;
    }
    const std::string text = sum_of_text(file->text);
    file->force = rollout.force;
    file->confirm = std::chrono::seconds{std::clamp<std::uint64_t>(
        rollout.trial_seconds, 1, std::chrono::seconds{std::chrono::hours{24}}.count())};
    state_.trial = FleetState::Trial{rollout.id, rollout.next, text};
    save();  // before the trial begins: a death in between ends it
    const RuleChange change = box_.rules.apply(*std::move(file));
    record(fmt::format("apply --cluster --confirm {}s", rollout.trial_seconds), rollout.next.by,
           change);
    if (change.refusal) {
        tell(refusal_text(*change.refusal));
        failed_ = rollout.next.generation;
        ended_ = rollout.id;
        state_.trial.reset();
        save();
    }
}

bool FleetFollower::runs_trial() {
    return state_.trial && box_.rules.view()->unconfirmed && text_in_force() == state_.trial->text;
}

void FleetFollower::end_trial(const FleetView& view) {
    const HeadSet next = state_.trial->next;
    const bool is_kept = view.head && view.head->value.now == next;
    if (is_kept && runs_trial()) {
        const RuleChange change = box_.rules.confirm();
        record("confirm --cluster", next.by, change);
        if (!change.refusal) {
            state_.adopted = next;
            state_.adopted_text = state_.trial->text;
        }
    } else if (!is_kept && runs_trial()) {
        const RuleChange change = box_.rules.rollback(Rollback{.from = Author{::getuid()}});
        record("rollback --cluster", next.by, change);
        if (change.refusal) {
            tell(refusal_text(*change.refusal));
            return;  // its own timer is still there
        }
        spdlog::warn("the rollout of {} has ended unconfirmed: the rules of before are back",
                     set_text(next));
    }
    state_.trial.reset();
    save();
}

void FleetFollower::adopt(const HeadSet& set, Clock::time_point now) {
    if (refused_ == set.generation && now < retry_at_) {
        return;
    }
    Result<RuleFile> file = fetch(set);
    if (!file) {
        tell(file.error().what);
        return;
    }
    const std::string text = sum_of_text(file->text);
    file->force = true;  // all have agreed to it
    const RuleChange change = box_.rules.apply(*std::move(file));
    if (change.refusal) {
        refused_ = set.generation;
        failed_ = set.generation;
        retry_at_ = now + kRetry;
        if (error_ != refusal_text(*change.refusal)) {
            record("apply --cluster", set.by, change);
        }
        tell(refusal_text(*change.refusal));
        return;
    }
    record("apply --cluster", set.by, change);
    spdlog::info("{} of the cluster is in force", set_text(set));
    refused_ = 0;
    state_.adopted = set;
    state_.adopted_text = text;
    save();
    tell("");
}

// A word of a number that was followed already says nothing more: people may have resumed since.
void FleetFollower::follow_panic(const PanicRecord& panic) {
    if (panic.number <= state_.panic) {
        return;
    }
    const Result<Reply> reply = box_.link.call(SetPanic{panic.pass});
    const std::string word = panic.pass ? "pass" : "resume";
    const auto* set = reply ? std::get_if<PanicSet>(&*reply) : nullptr;
    if (set == nullptr) {
        return;
    }
    box_.audit.write({.name = panic.by,
                      .call = "panic " + word + " --cluster",
                      .before = set->before ? "pass" : "resume",
                      .after = word,
                      .outcome = "done"});
    spdlog::warn("panic {} by the cluster", word);
    state_.panic = panic.number;
    save();
}

void FleetFollower::keep_slot(std::size_t slot) {
    if (state_.slot != slot) {
        state_.slot = slot;
        save();
    }
}

void FleetFollower::record(const std::string& call, const std::string& by,
                           const RuleChange& change) {
    box_.audit.write({.name = by,
                      .call = call,
                      .before = generation_text(change.before),
                      .after = generation_text(change.refusal ? change.before : change.after),
                      .outcome = change.refusal ? "refused: " + change.refusal->what : "done"});
}

void FleetFollower::save() {
    if (const Result<Done> done = save_fleet_state(box_.state_dir, state_); !done) {
        tell(done.error().what);
    }
}

void FleetFollower::tell(const std::string& error) {
    if (error_ != error && !error.empty()) {
        spdlog::warn("cluster {}: {}", board_.options().name, error);
    }
    error_ = error;
}

std::string FleetFollower::text_in_force() {
    std::shared_ptr<const RuleView> view = box_.rules.view();
    if (summed_of_ != view) {
        sum_ = sum_of_text(view->text);
        summed_of_ = std::move(view);
    }
    return sum_;
}

// The record, as everybody is to see it.
void FleetFollower::show() {
    NodeRecord next = board_.status().record;
    const std::string text = text_in_force();
    const bool on_trial = runs_trial();
    if (state_.trial && !on_trial) {
        ended_ = state_.trial->rollout;  // by its own timer, or by hand
    }
    next.in_force = on_trial ? state_.trial->next : state_.adopted;
    next.is_trial = on_trial;
    next.rules = generation_text(box_.rules.view()->generation);
    next.is_detached = !on_trial && state_.adopted.generation != 0 && text != state_.adopted_text;
    next.staged = staged_;
    next.failed = failed_;
    next.error = error_;
    next.panic = state_.panic;
    if (text_of(next) != text_of(board_.status().record)) {
        board_.change_record([&](NodeRecord& record) {
            next.slot = record.slot;
            record = next;
        });
    }
}

}  // namespace sluice
