#include "control/daemon/fleet/fleet_follower.hpp"

#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kShownSum = 12;  // digits

std::string set_text(const HeadSet& set) {
    return fmt::format("generation {} ({})", set.generation, set.set.sum.substr(0, kShownSum));
}

// Names of the texts that came with a set.
using RuleNames = std::set<std::string>;
RuleNames names_of(const RuleFile& file) {
    RuleNames names{"", file.name};
    for (const FileSlice& slice : file.slices) {
        names.insert(slice.name);
    }
    return names;
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

// The same for all to read in etcd. A file of the box's own is named, with none of what it holds:
// whoever brings rules may name any file.
std::string public_error(const std::vector<Problem>& problems, const RuleNames& names) {
    const auto found = std::ranges::find(problems, Severity::Error, &Problem::severity);
    if (found == problems.end() || names.contains(found->file)) {
        return first_error(problems);
    }
    return fmt::format(
        "{}:{}:{}: it cannot be taken as what the rules say it is; the box's log has "
        "the reason",
        found->file, found->at.line, found->at.column);
}

std::string refusal_text(const Refusal& refusal) {
    return refusal.problems.empty() ? refusal.what : first_error(refusal.problems);
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

void FleetFollower::tick(Clock::time_point now, bool hinted) {
    const bool is_connected = box_.link.status().connected;
    const bool has_come = is_connected && !was_connected_;
    if (has_come) {
        dataplane_read_at_ = retry_at_ = {};  // what it has not taken is for it to take now
    }
    was_connected_ = is_connected;
    if (is_of_cluster(board_.status().membership) && (hinted || has_come || now >= read_at_)) {
        read_at_ = now + kRead;
        const Result<FleetView> view = store_.view();
        if (view) {
            has_reported_ = false;
            follow(*view, now);
        } else if (view.error().code == Errc::BadSyntax) {
            report(view.error().what);
        }
    }
    read_dataplane(now);
    update_record();
}

// Readings that are nearly the one before leave the record as it is: each change of it is another
// revision of etcd.
void FleetFollower::read_dataplane(Clock::time_point now) {
    const std::uint64_t followed = board_.status().record.panic;
    if ((now < dataplane_read_at_ && followed == panic_read_) || !box_.link.status().connected) {
        return;
    }
    dataplane_read_at_ = now + kStoreReading;
    const Result<Reply> reply = box_.link.call(GetStats{});
    const auto* const stats = reply ? std::get_if<Stats>(&*reply) : nullptr;
    if (stats == nullptr) {
        return;
    }
    is_panic_ = stats->panic;
    panic_read_ = followed;
    const StoreLinkStats& store = stats->store;
    StoreReading reading;
    if (store.in_cluster) {
        reading = {.state = std::string{name_of(static_cast<StoreLinkState>(store.state))},
                   .rtt_us = store.rtt_us,
                   .clock_off_us = store.clock_off_us,
                   .unsynced = store.unsynced};
    }
    if (differs_notably(store_reading_, reading)) {
        store_reading_ = std::move(reading);
    }
}

void FleetFollower::follow(const FleetView& view, Clock::time_point now) {
    const std::uint64_t head = view.head ? view.head->value.now.generation : 0;
    board_.change([&](FleetStatus& status) { status.head = head; });
    if (view.rollout && view.rollout->value.is_uploaded &&
        view.rollout->value.next.generation > state_.adopted.generation &&
        view.rollout->value.next.generation - state_.adopted.generation <= kMostAhead) {
        stage(view.rollout->value, now);
        try_rollout(view.rollout->value);
    }
    if (state_.trial && (!view.rollout || view.rollout->value.id != state_.trial->rollout)) {
        end_trial(view);
    }
    compare_with(view, now);
}

// An error of this view stays, and so does that of a trial while its rollout is there.
void FleetFollower::compare_with(const FleetView& view, Clock::time_point now) {
    const HeadSet head = view.head ? view.head->value.now : HeadSet{};
    if (head.generation < state_.adopted.generation) {
        report(!view.head ? fmt::format("etcd has no rules, and this box has those of {}: it keeps "
                                        "them",
                                        set_text(state_.adopted))
                          : fmt::format("etcd has the older {}, and this box {}: it keeps them",
                                        set_text(head), set_text(state_.adopted)));
    } else if (head.generation - state_.adopted.generation > kMostAhead) {
        report(
            fmt::format("etcd has {}, which no rollouts could lead to behind {}: this box keeps "
                        "its rules",
                        set_text(head), set_text(state_.adopted)));
    } else if (head.generation > state_.adopted.generation) {
        if (!state_.trial) {
            adopt(head, now);
        }
    } else if (head.set != state_.adopted.set) {
        report(fmt::format("etcd has {}, and this box {}: it keeps it until the next one comes",
                           set_text(head), set_text(state_.adopted)));
    } else if (!has_reported_ && !(view.rollout && view.rollout->value.id == ended_)) {
        report("");
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

// A verdict without a rollout is none yet.
StagedSet FleetFollower::judge(const Rollout& rollout) {
    StagedSet verdict{.rollout = rollout.id};
    if (!box_.link.status().connected) {
        return {.why = "its dataplane is away"};
    }
    Result<RuleFile> file = fetch(rollout.next);
    if (!file) {
        verdict.why = file.error().what;
        if (file.error().code == Errc::Unreachable || file.error().code == Errc::Busy) {
            verdict.rollout.clear();
        }
        return verdict;
    }
    const RuleNames names = names_of(*file);
    const std::optional<Compiled> compiled = box_.rules.preview(*std::move(file));
    if (!compiled || compiled->no_memory) {
        verdict.rollout.clear();  // another preview took its place, or others had the memory
    } else if (!compiled->rules) {
        verdict.why = public_error(compiled->problems, names);
        spdlog::error("cluster {}: {}", board_.options().name, first_error(compiled->problems));
    } else if (compiled->rules->set.rules.empty() && !rollout.force) {
        verdict.why = "no rule in it is on: it would lift every limit; --force applies it";
    } else {
        verdict.is_good = true;
    }
    return verdict;
}

void FleetFollower::stage(const Rollout& rollout, Clock::time_point now) {
    if (staged_.rollout == rollout.id) {
        return;
    }
    const StagedSet verdict = judge(rollout);
    if (verdict.rollout.empty()) {
        read_at_ = now + kRestage;
        if (!verdict.why.empty()) {
            report(verdict.why);
        }
        return;
    }
    staged_ = verdict;
    failed_ = 0;
    if (staged_.is_good) {
        spdlog::info("{} of the cluster is staged", set_text(rollout.next));
    } else {
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
        report(file.error().what);
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
        report(refusal_text(*change.refusal));
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
        // The box's timer may end the trial first: then the rules of before are back already.
        const RuleChange change =
            box_.rules.rollback(Rollback{.from = Author{::getuid()}, .is_of_trial = true});
        if (change.refusal && runs_trial()) {
            record("rollback --cluster", next.by, change);
            report(refusal_text(*change.refusal));
            return;  // its own timer is still there
        }
        if (!change.refusal) {
            record("rollback --cluster", next.by, change);
        }
        spdlog::warn("the rollout of {} has ended unconfirmed: the rules of before are back",
                     set_text(next));
    }
    state_.trial.reset();
    save();
}

void FleetFollower::adopt(const HeadSet& set, Clock::time_point now) {
    if (refused_ == set && now < retry_at_) {
        return;
    }
    if (!box_.link.status().connected) {
        return;  // the record says so, and it is adopted as soon as there is one
    }
    Result<RuleFile> file = fetch(set);
    if (!file) {
        report(file.error().what);
        return;
    }
    const std::string text = sum_of_text(file->text);
    file->force = true;  // all have agreed to it
    const RuleChange change = box_.rules.apply(*std::move(file));
    if (change.refusal) {
        refused_ = set;
        failed_ = set.generation;
        retry_at_ = now + kRetry;
        if (error_ != refusal_text(*change.refusal)) {
            record("apply --cluster", set.by, change);
        }
        report(refusal_text(*change.refusal));
        return;
    }
    record("apply --cluster", set.by, change);
    spdlog::info("{} of the cluster is in force", set_text(set));
    refused_ = {};
    failed_ = 0;
    state_.adopted = set;
    state_.adopted_text = text;
    save();
    report("");
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
    const Result<Done> done = disk_.change([&](FleetState& state) {
        state.adopted = state_.adopted;
        state.adopted_text = state_.adopted_text;
        state.trial = state_.trial;
    });
    if (!done) {
        report(done.error().what);
    }
}

void FleetFollower::report(const std::string& error) {
    if (error_ != error && !error.empty()) {
        spdlog::warn("cluster {}: {}", board_.options().name, error);
    }
    error_ = error;
    has_reported_ = has_reported_ || !error.empty();
}

std::string FleetFollower::text_in_force() {
    std::shared_ptr<const RuleView> view = box_.rules.view();
    if (summed_of_ != view) {
        sum_ = sum_of_text(view->text);
        summed_of_ = std::move(view);
    }
    return sum_;
}

// Rules or modes that the box was given by itself.
bool FleetFollower::has_own_rules() {
    const std::shared_ptr<const RuleView> view = box_.rules.view();
    return text_in_force() != state_.adopted_text ||
           std::ranges::any_of(view->modes,
                               [](const auto& mode) { return tenant_of(mode.first).empty(); });
}

// The part of the record that this thread has.
void FleetFollower::update_record() {
    const NodeRecord before = board_.status().record;
    NodeRecord next = before;
    const bool on_trial = runs_trial();
    if (state_.trial && !on_trial) {
        ended_ = state_.trial->rollout;  // by its own timer, or by hand
    }
    next.in_force = on_trial ? state_.trial->next : state_.adopted;
    next.is_trial = on_trial;
    next.rules = generation_text(box_.rules.view()->generation);
    next.is_detached = !on_trial && state_.adopted.generation != 0 && has_own_rules();
    next.is_dataplane_away = !box_.link.status().connected;
    next.store = store_reading_;
    next.is_panic = is_panic_;
    next.staged = staged_;
    next.failed = failed_;
    next.error = error_;
    if (text_of(next) != text_of(before)) {
        board_.change_record([&](NodeRecord& record) {
            next.slot = record.slot;
            next.panic = record.panic;
            record = next;
        });
    }
}

}  // namespace sluice
