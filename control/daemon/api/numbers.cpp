#include "control/daemon/api/numbers.hpp"

#include "control/daemon/api/metrics_writer.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sluice {

namespace {

using nlohmann::ordered_json;

template <typename Counts, typename Rows>
ordered_json by_name(const Counts& counts, const Rows& rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        object[std::string{row_name(rows[i])}] = counts[i];
    }
    return object;
}

template <typename Stats, typename Gauges>
ordered_json gauges_json(const Stats& stats, const Gauges& gauges) {
    ordered_json object = ordered_json::object();
    for (const auto& gauge : gauges) {
        object[std::string{gauge.name}] = stats.*gauge.count;
    }
    return object;
}

template <std::size_t kCount>
void add(const std::array<std::uint64_t, kCount>& counts, std::array<std::uint64_t, kCount>& to) {
    std::transform(counts.begin(), counts.end(), to.begin(), to.begin(), std::plus{});
}

template <typename Stats, typename Gauges>
void add(const Stats& stats, Stats& to, const Gauges& gauges) {
    for (const auto& gauge : gauges) {
        to.*gauge.count += stats.*gauge.count;
    }
}

// By names of protocol and reason, one behind the other.
ordered_json unread_json(const std::array<std::uint64_t, kUnreadKinds>& unread) {
    ordered_json json = ordered_json::object();
    for (std::size_t i = 0; i < kUnreadKinds; ++i) {
        const std::string name{kUnreadProtocols[i / kUnreadReasons.size()]};
        json[name + "_" + std::string{kUnreadReasons[i % kUnreadReasons.size()].name}] = unread[i];
    }
    return json;
}

}  // namespace

ordered_json counts_json(const WorkerStats& worker) {
    return {{"packets",
             std::accumulate(worker.by_verdict.begin(), worker.by_verdict.end(), std::uint64_t{0})},
            {"verdicts", by_name(worker.by_verdict, kVerdictNames)},
            {"verdict_bytes", by_name(worker.bytes_by_verdict, kVerdictNames)},
            {"reasons", by_name(worker.by_reason, kReasons)},
            {"table_full", no_place(worker)},
            {"table", by_name(worker.by_table_event, kTableEvents)},
            {"units", by_name(worker.by_unit_event, kUnitEvents)},
            {"answers", by_name(worker.by_answer_event, kAnswerEvents)},
            {"would_refuse", by_name(worker.would_refuse, kReasons)},
            {"tracking", by_name(worker.by_track_event, kTrackEvents)},
            {"connections", gauges_json(worker.connections, kConnectionGauges)},
            {"connection_events", by_name(worker.connections.by_event, kConnectionEvents)},
            {"unread_connections", unread_json(worker.connections.unread)},
            {"asks", gauges_json(worker.asks, kAskGauges)},
            {"ask_events", by_name(worker.asks.by_event, kAskEvents)},
            {"shaping", gauges_json(worker.shaping, kShapeGauges)}};
}

ordered_json cycles_json(const StageStats& stats) {
    return {{"of_turns", kTurnsPerSample},
            {"turns", stats.turns},
            {"packets", stats.packets},
            {"per_second", stats.cycles_per_second},
            {"stages", by_name(stats.cycles, kStages)}};
}

ordered_json ledger_json(const WorkerStats& worker) {
    return by_name(worker.by_ledger_event, kLedgerEvents);
}

std::uint64_t no_place(const WorkerStats& worker) {
    std::uint64_t total = 0;
    for (const TableEvent event :
         {TableEvent::TableFull, TableEvent::ShareFull, TableEvent::PoolFull}) {
        total += worker.by_table_event[static_cast<std::size_t>(event)];
    }
    return total;
}

WorkerStats total_of(const std::vector<WorkerStats>& workers) {
    WorkerStats totals;
    for (const WorkerStats& worker : workers) {
        add(worker.by_verdict, totals.by_verdict);
        add(worker.bytes_by_verdict, totals.bytes_by_verdict);
        add(worker.by_reason, totals.by_reason);
        add(worker.by_table_event, totals.by_table_event);
        add(worker.by_unit_event, totals.by_unit_event);
        add(worker.by_answer_event, totals.by_answer_event);
        add(worker.would_refuse, totals.would_refuse);
        add(worker.by_track_event, totals.by_track_event);
        add(worker.connections.by_event, totals.connections.by_event);
        add(worker.connections.unread, totals.connections.unread);
        add(worker.connections, totals.connections, kConnectionGauges);
        add(worker.asks.by_event, totals.asks.by_event);
        add(worker.asks, totals.asks, kAskGauges);
        add(worker.shaping, totals.shaping, kShapeGauges);
    }
    return totals;
}

}  // namespace sluice
