#include "control/daemon/notify/event_follower.hpp"

#include "control/daemon/api/api.hpp"

#include <spdlog/spdlog.h>

#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint32_t kEventsAtOnce = 1000;  // of one answer
// Answers in one tick: more than the dataplane keeps. What comes faster is counted as missed.
constexpr int kReadsInTick = 12;

}  // namespace

void EventFollower::tick(Clock::time_point now, std::int64_t utc) {
    adopt();
    read_cluster(now);
    if (gate_.empty() || !link_.status().connected) {
        return;
    }
    if (!asks_more_ || read_again(now)) {
        asks_more_ = false;
        read_events(now);
    }
    if (now >= ask_stats_at_ || gate_.has_attack()) {
        ask_stats_at_ = now + kAskStats;
        read_stats(now, utc);
    }
    for (const Notice& notice : gate_.collect(now)) {
        sender_.post(notice);
    }
}

// The dataplane has rules before this view shows them, and tells of keys from then on.
void EventFollower::adopt() {
    std::shared_ptr<const RuleView> view = rules_.view();
    if (view == view_) {
        return;
    }
    const bool was_empty = gate_.empty();
    asks_more_ = gate_.adopt(*view, asks_more_) && !was_empty;
    if (was_empty) {
        cursor_.begin(view->since);
    }
    view_ = std::move(view);
    warn_of_missing();
}

// Once for each webhook and the rules that name it.
void EventFollower::warn_of_missing() {
    MissingWebhooks missing = missing_webhooks(*view_, sender_);
    for (const auto& [name, rules] : missing) {
        const auto before = missing_.find(name);
        if (before == missing_.end() || before->second != rules) {
            spdlog::warn("the webhook {} is told of nothing: {}", name, missing_text(rules));
        }
    }
    missing_ = std::move(missing);
}

// Events that were read while nobody knew who asks for them. The dataplane keeps a bounded number,
// so that nothing has to be kept here. False: it does not answer; to be tried again.
bool EventFollower::read_again(Clock::time_point now) {
    EventCursor again;
    again.begin(view_->since);
    std::vector<KeyEvent> earlier;
    for (int reads = 0; reads < kReadsInTick; ++reads) {
        Result<Events> found = ask_for<Events>(link_, again.request(kEventsAtOnce));
        if (!found) {
            return false;
        }
        (void)again.advance(*found);
        for (KeyEvent& event : found->events) {
            if (cursor_.is_behind(found->origin, event.number) && again.counts(event)) {
                earlier.push_back(std::move(event));
            }
        }
        if (!cursor_.is_behind(found->origin, found->next) || found->events.empty()) {
            break;
        }
    }
    for (const KeyEvent& event : earlier) {
        gate_.take_again(event, now);
    }
    return true;
}

void EventFollower::read_events(Clock::time_point now) {
    for (int reads = 0; reads < kReadsInTick; ++reads) {
        const Result<Events> found = ask_for<Events>(link_, cursor_.request(kEventsAtOnce));
        if (!found) {
            return;
        }
        gate_.lose(cursor_.advance(*found));
        for (const KeyEvent& event : found->events) {
            if (cursor_.counts(event)) {
                gate_.lose(event.kind == KeyEventKind::Lost ? event.lost : 0);
                gate_.take(event, now);
            }
        }
        if (found->events.empty()) {
            return;
        }
    }
}

// Events of the cluster from before anybody asked for them are told to nobody.
void EventFollower::read_cluster(Clock::time_point now) {
    if (cluster_ == nullptr || gate_.empty()) {
        cluster_next_ = 0;
        return;
    }
    const ClusterLog::Slice found = cluster_->read(cluster_next_);
    std::uint64_t missed = found.missed;
    for (const ClusterEvent& event : found.events) {
        if (cluster_next_ != 0 && event.number >= cluster_next_) {
            gate_.note_cluster(event, std::exchange(missed, 0));
        }
    }
    cluster_next_ = found.next;
    for (const Notice& notice : gate_.collect_cluster(now)) {
        sender_.post(notice);
    }
}

void EventFollower::read_stats(Clock::time_point now, std::int64_t utc) {
    const Result<Stats> stats = ask_for<Stats>(link_, GetStats{});
    if (!stats) {
        return;
    }
    for (const RuleStats& rule : stats->rules) {
        gate_.count_refused(rule.id, refused_by(rule.counts), now, utc);
    }
    gate_.note_state(stats->state.survives, stats->state.not_kept);
}

}  // namespace sluice
