#include "control/daemon/api/numbers.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sluice {

namespace {

template <std::size_t kCount, typename NameOf>
nlohmann::ordered_json by_name(const std::array<std::uint64_t, kCount>& counts, NameOf&& name_of) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < kCount; ++i) {
        object[std::string{name_of(i)}] = counts[i];
    }
    return object;
}

template <std::size_t kCount>
void add(const std::array<std::uint64_t, kCount>& counts, std::array<std::uint64_t, kCount>& to) {
    std::transform(counts.begin(), counts.end(), to.begin(), to.begin(), std::plus{});
}

// Events by name, and what there is now.
template <typename Stats, typename Gauges>
void add(const Stats& stats, Stats& to, const Gauges& gauges) {
    add(stats.by_event, to.by_event);
    for (const auto& gauge : gauges) {
        to.*gauge.count += stats.*gauge.count;
    }
}

template <typename Stats, typename Gauges>
nlohmann::ordered_json gauges_json(const Stats& stats, const Gauges& gauges) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const auto& gauge : gauges) {
        object[std::string{gauge.name}] = stats.*gauge.count;
    }
    return object;
}

}  // namespace

nlohmann::ordered_json verdicts_json(const VerdictCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kVerdictNames[i]; });
}
nlohmann::ordered_json reasons_json(const ReasonCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kReasons[i].name; });
}
nlohmann::ordered_json table_events_json(const TableEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kTableEvents[i].name; });
}
nlohmann::ordered_json unit_events_json(const UnitEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kUnitEvents[i].name; });
}
nlohmann::ordered_json answer_events_json(const AnswerEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kAnswerEvents[i].name; });
}
nlohmann::ordered_json connection_events_json(const ConnectionEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kConnectionEvents[i].name; });
}
nlohmann::ordered_json connections_json(const ConnectionStats& stats) {
    return gauges_json(stats, kConnectionGauges);
}
nlohmann::ordered_json ask_events_json(const AskEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kAskEvents[i].name; });
}
nlohmann::ordered_json asks_json(const AskStats& stats) {
    return gauges_json(stats, kAskGauges);
}
nlohmann::ordered_json shaping_json(const ShapeStats& stats) {
    return gauges_json(stats, kShapeGauges);
}
nlohmann::ordered_json cycles_json(const StageStats& stats) {
    return {{"of_turns", kTurnsPerSample},
            {"turns", stats.turns},
            {"packets", stats.packets},
            {"per_second", stats.cycles_per_second},
            {"stages", by_name(stats.cycles, [](std::size_t i) { return kStages[i].name; })}};
}
nlohmann::ordered_json ledger_json(const LedgerEventCounts& counts) {
    return by_name(counts, [](std::size_t i) { return kLedgerEvents[i].name; });
}

std::uint64_t no_place(const TableEventCounts& counts) {
    std::uint64_t total = 0;
    for (const TableEvent event :
         {TableEvent::TableFull, TableEvent::ShareFull, TableEvent::PoolFull}) {
        total += counts[static_cast<std::size_t>(event)];
    }
    return total;
}

Totals total_of(const std::vector<WorkerStats>& workers) {
    Totals totals;
    for (const WorkerStats& worker : workers) {
        add(worker.by_verdict, totals.by_verdict);
        add(worker.bytes_by_verdict, totals.bytes_by_verdict);
        add(worker.by_reason, totals.by_reason);
        add(worker.by_table_event, totals.by_table_event);
        add(worker.by_unit_event, totals.by_unit_event);
        add(worker.by_answer_event, totals.by_answer_event);
        add(worker.connections, totals.connections, kConnectionGauges);
        add(worker.asks, totals.asks, kAskGauges);
        totals.shaping.held += worker.shaping.held;
        totals.shaping.room += worker.shaping.room;
    }
    totals.packets =
        std::accumulate(totals.by_verdict.begin(), totals.by_verdict.end(), std::uint64_t{0});
    return totals;
}

}  // namespace sluice
