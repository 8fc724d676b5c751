#include "control/daemon/api/numbers.hpp"

#include "control/daemon/api/stat_json.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace sluice {

namespace {

using nlohmann::ordered_json;

void add(std::uint64_t number, std::uint64_t& to) {
    to += number;
}
template <std::size_t kCount>
void add(const std::array<std::uint64_t, kCount>& counts, std::array<std::uint64_t, kCount>& to) {
    std::transform(counts.begin(), counts.end(), to.begin(), to.begin(), std::plus{});
}

// Every number of a part, all of which are counts.
template <typename Stats>
void add_rows(const Stats& stats, Stats& to) {
    for_each_stat_row<Stats>([&](const auto& row) { add(stats.*row.member, to.*row.member); });
}

template <typename Stats>
void add_arrays(const Stats& stats, Stats& to) {
    for_each_stat_row<Stats>([&]<typename Row>(const Row& row) {
        if constexpr (kIsArrayRow<Row>) {
            add(stats.*row.member, to.*row.member);
        }
    });
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
    ordered_json counts{{"packets", std::accumulate(worker.by_verdict.begin(),
                                                    worker.by_verdict.end(), std::uint64_t{0})}};
    add_arrays_json(worker, counts);
    counts["table_full"] = no_place(worker);
    counts["connections"] = numbers_json(worker.connections);
    add_arrays_json(worker.connections, counts);
    counts["unread_connections"] = unread_json(worker.connections.unread);
    counts["asks"] = numbers_json(worker.asks);
    add_arrays_json(worker.asks, counts);
    counts["shaping"] = numbers_json(worker.shaping);
    return counts;
}

ordered_json cycles_json(const StageStats& stats) {
    return {{"of_turns", kTurnsPerSample},
            {"turns", stats.turns},
            {"packets", stats.packets},
            {"per_second", stats.cycles_per_second},
            {"stages", json_by_name(stats.cycles, kStages)}};
}

ordered_json ledger_json(const WorkerStats& worker) {
    return json_by_name(worker.by_ledger_event, kLedgerEvents);
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
        add_arrays(worker, totals);
        add_rows(worker.connections, totals.connections);
        add(worker.connections.unread, totals.connections.unread);
        add_rows(worker.asks, totals.asks);
        add_rows(worker.shaping, totals.shaping);
    }
    return totals;
}

}  // namespace sluice
