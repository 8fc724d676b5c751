#include "control/daemon/notify/event_follower.hpp"

#include "control/daemon/api/api.hpp"

namespace sluice {
namespace {

constexpr std::uint32_t kEventsAtOnce = 1000;  // of one answer
// Answers in one tick: more than the dataplane keeps. What comes faster is counted as missed.
constexpr int kReadsInTick = 12;

}  // namespace

void EventFollower::tick(Clock::time_point now, std::int64_t utc) {
    adopt(utc);
    if (gate_.empty() || !link_.status().connected) {
        return;
    }
    read_events(now);
    if (now >= ask_stats_at_) {
        ask_stats_at_ = now + kAskStats;
        read_stats(now, utc);
    }
    for (const Notice& notice : gate_.collect(now)) {
        sender_.post(notice);
    }
}

void EventFollower::adopt(std::int64_t utc) {
    std::shared_ptr<const RuleView> view = rules_.view();
    if (view == view_) {
        return;
    }
    const bool was_empty = gate_.empty();
    gate_.adopt(*view);
    if (was_empty) {
        cursor_.begin(utc);
    }
    view_ = std::move(view);
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

void EventFollower::read_stats(Clock::time_point now, std::int64_t utc) {
    const Result<Stats> stats = ask_for<Stats>(link_, GetStats{});
    if (!stats) {
        return;
    }
    for (const RuleStats& rule : stats->rules) {
        gate_.count_refused(rule.id, rule.counts.exceeded + rule.counts.early_dropped, now, utc);
    }
    gate_.note_state(stats->state.survives, stats->state.not_kept);
}

}  // namespace sluice
