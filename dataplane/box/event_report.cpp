#include "dataplane/box/event_report.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {
namespace {

// Events in one answer: the control socket has other clients too.
constexpr std::uint32_t kMostAtOnce = 1000;

Nanoseconds utc_now() {
    return std::chrono::duration_cast<Nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace

EventReport::EventReport(WorkerFleet& workers)
    : workers_{workers},
      origin_{static_cast<std::uint64_t>(utc_now().count())},
      lost_(workers.size()) {}

void EventReport::adopt(const LoadedSet& rules, const Ports& ports) {
    take_events(ports);
    log_.adopt(rules);
}

void EventReport::take_events(const Ports& ports) {
    const auto pair_of = [&](std::uint64_t name) { return ports.pair_called(name); };
    for (std::size_t worker = 0; worker < workers_.events().size(); ++worker) {
        KeyEvents& events = *workers_.events()[worker];
        events.ring().drain([&](const EventRecord& record) {
            log_.take(record, workers_.lcore(worker), pair_of);
            note_ban(record);
        });
        const std::uint64_t lost = events.lost();
        log_.lose(lost - lost_[worker], utc_now());
        lost_[worker] = lost;
    }
}

void EventReport::note_ban(const EventRecord& record) {
    const std::string* const rule = log_.rule_of(record);
    if (record.kind == KeyEventKind::BanStart && rule != nullptr) {
        banned_.note(*rule, {reinterpret_cast<const char*>(record.bytes.data()), record.size});
    }
}

Events EventReport::read(const GetEvents& request, const Ports& ports) {
    take_events(ports);
    const bool is_ours = request.origin == origin_;
    EventLog::Slice slice =
        log_.read(is_ours ? request.from : 0, std::min(request.most, kMostAtOnce));
    return {.origin = origin_,
            .next = slice.next,
            .missed = slice.missed,
            .events = std::move(slice.events)};
}

void EventReport::notify_bridged(const std::string& pair, std::uint64_t packets) {
    log_.bridged(pair, packets, utc_now());
}

void EventReport::notify_trusted(const std::string& service, std::string_view side) {
    log_.checksums_trusted(service, side, utc_now());
}

void EventReport::notify_forgiven(const std::string& rule, const std::string& key) {
    const std::uint64_t forgiven = workers_.debts_forgiven();
    if (forgiven != forgiven_) {
        log_.debts_forgiven(rule, key, forgiven - std::exchange(forgiven_, forgiven), utc_now());
    }
}

void EventReport::watch_forgiven() {
    const auto now = std::chrono::steady_clock::now();
    if (forgiven_gap_.is_due(now)) {
        forgiven_gap_.note_look(now, workers_.debts_forgiven() != forgiven_);
        notify_forgiven("", "");
    }
}

EventStats EventReport::stats() const {
    EventStats stats;
    for (std::size_t i = 0; i < stats.by_kind.size(); ++i) {
        stats.by_kind[i] = log_.count(static_cast<KeyEventKind>(i));
    }
    return stats;
}

}  // namespace sluice
