#include "control/daemon/live/live_sampler.hpp"

#include "control/daemon/api/change.hpp"
#include "control/daemon/api/event_json.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {
namespace {

constexpr std::uint32_t kLiveEventsAtOnce = 1000;
constexpr int kMostEventReads = 12;  // of a second

// The kernel forwards the frames of every port of it while no box does.
bool bridges_without_box(const Stats& stats) {
    return !stats.ports.empty() && std::ranges::all_of(stats.ports, [](const PortStats& port) {
        return port.kernel.attached && port.kernel.fail_open;
    });
}

bool is_any_on(const RuleView& view) {
    const auto is_on = [](const auto& one) { return one.mode != Mode::Off; };
    return std::ranges::any_of(view.services, is_on) ||
           std::ranges::any_of(view.rules, [&](const RuleSummary& rule) {
               return rule.kind == RuleKind::Rule && is_on(rule);
           });
}

}  // namespace

StateNow state_now(const Stats* stats, const RuleView& view, const std::string& failed,
                   bool bridges) {
    if (stats == nullptr) {
        return bridges ? StateNow{LiveState::Bridged,
                                  failed + "; the kernel forwards frames unjudged meanwhile"}
                       : StateNow{LiveState::NoDataplane, failed};
    }
    if (std::ranges::any_of(stats->ports, [](const PortStats& port) {
            return port.kernel.attached && port.kernel.fail_open && port.kernel.takes_over();
        })) {
        return {LiveState::Bridged,
                "no worker has run for a while, and the kernel forwards frames"};
    }
    if (stats->panic) {
        return {LiveState::Panic, "everything is forwarded unjudged: panic pass is on"};
    }
    if (stats->generation == 0) {
        return {LiveState::NoRules, "no rule set is in force"};
    }
    if (stats->generation == view.generation && !is_any_on(view)) {
        return {LiveState::NoRules, "no rule or service of the set in force is on"};
    }
    return {LiveState::Judging, ""};
}

void LiveSampler::run(const std::stop_token& stop) {
    using Clock = LiveBoard::Clock;
    constexpr std::chrono::seconds kStep{1};
    Clock::time_point start = Clock::now();
    std::int64_t second = -1;
    while (!stop.stop_requested()) {
        const bool slept = board_.sleep_until_wanted(stop);
        const Clock::time_point now = Clock::now();
        const std::int64_t reached = (now - start) / kStep;
        if (slept || second < 0) {
            // A second begins now: who has just asked is not to wait for one.
            second = std::max(second + 1, reached);
            start = now - second * kStep;
        } else {
            board_.count_late(
                static_cast<std::uint64_t>(std::max<std::int64_t>(reached - second - 1, 0)));
            second = std::max(second + 1, reached);
        }
        if (stop.stop_requested()) {
            return;
        }
        const auto utc = std::chrono::system_clock::now().time_since_epoch();
        if (!tick(second, std::chrono::nanoseconds{utc}.count())) {
            board_.count_late(1);
        }
        board_.sleep_until(start + (second + 1) * kStep, stop);
    }
}

Result<Reading> LiveSampler::read() {
    Result<Stats> stats = ask_for<Stats>(link_, GetStats{});
    if (!stats) {
        return stats.error();
    }
    return Reading{.stats = *std::move(stats), .pid = link_.status().pid, .view = rules_.view()};
}

void LiveSampler::read_events(Reading& reading) {
    reading.origin = origin_;
    for (int reads = 0; reads < kMostEventReads; ++reads) {
        const Result<Events> found = ask_for<Events>(
            link_, GetEvents{.origin = origin_, .from = from_, .most = kLiveEventsAtOnce});
        if (!found) {
            return;
        }
        origin_ = reading.origin = found->origin;
        from_ = found->next;
        const std::size_t count = found->events.size();
        for (std::size_t i = count - std::min(count, kEvents); i < count; ++i) {
            events_.push_front(event_json(found->events[i]));
        }
        if (count == 0) {
            break;
        }
    }
    events_.resize(std::min(events_.size(), kEvents));
}

// Among those of keys, by their time.
void LiveSampler::read_cluster() {
    if (cluster_ == nullptr) {
        return;
    }
    const ClusterLog::Slice found = cluster_->log().read(cluster_from_);
    if (cluster_from_ == found.next) {
        return;
    }
    cluster_from_ = found.next;
    for (const ClusterEvent& event : found.events) {
        events_.push_front(event_json(event));
    }
    std::ranges::stable_sort(events_, std::ranges::greater{}, [](const Json& event) {
        return event.at("time").get<std::string>();  // of one length, up to the nanosecond
    });
    events_.resize(std::min(events_.size(), kEvents));
}

void LiveSampler::note_state(const StateNow& state, const std::string& at) {
    if (state_ && *state_ != state.state) {
        since_ = at;
    }
    state_ = state.state;
}

bool LiveSampler::tick(std::int64_t second, std::int64_t utc_ns) {
    LiveSnapshot snapshot{.second = second, .at = utc_ns_text(utc_ns)};
    Result<Reading> reading = read();
    if (reading) {
        read_events(*reading);
        read_cluster();
        publish(*std::move(reading), "", std::move(snapshot));
        return true;
    }
    if (reading.error().code == Errc::Busy) {
        return false;
    }
    read_cluster();
    publish(std::nullopt, reading.error().what, std::move(snapshot));
    return true;
}

void LiveSampler::publish(std::optional<Reading> reading, const std::string& failed,
                          LiveSnapshot snapshot) {
    const Reading* before = before_ ? &*before_ : nullptr;
    const Reading* now = reading ? &*reading : nullptr;
    const Stats* stats = now == nullptr ? nullptr : &now->stats;
    const std::shared_ptr<const RuleView> view = now == nullptr ? rules_.view() : now->view;
    snapshot.number = ++number_;
    snapshot.state =
        state_now(stats, *view, failed, before != nullptr && bridges_without_box(before->stats));
    note_state(snapshot.state, snapshot.at);
    snapshot.since = since_;
    snapshot.trial = unconfirmed_json(view->unconfirmed);
    snapshot.rules = live_rules(before, now, *view);
    if (now != nullptr) {
        snapshot.generation = stats->generation;
        snapshot.workers = stats->workers.size();
        snapshot.rates = live_rates(before, *now, snapshot.rules);
        snapshot.ports = live_ports(before, *now);
    }
    const bool anew = now != nullptr && before != nullptr && now->origin != before->origin;
    const std::vector<NoticeSender::State> webhooks = notices_.states();
    snapshot.problems =
        problems_.find({stats, *view, snapshot.state, webhooks}, snapshot.second, anew);
    for (const Json& event : events_) {
        snapshot.events.push_back(event);
    }
    const LiveBoard::Shown shown = board_.newest();
    carry_sparks(shown == nullptr ? nullptr : &shown->snapshot(), snapshot);
    board_.publish(std::move(snapshot));
    if (reading) {
        before_ = std::move(reading);
    }
}

}  // namespace sluice
