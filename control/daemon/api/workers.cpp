#include "control/daemon/api/api.hpp"
#include "control/daemon/api/numbers.hpp"

namespace sluice {

HttpResponse get_workers(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    if (!stats) {
        return no_dataplane(stats.error());
    }
    nlohmann::ordered_json workers = nlohmann::ordered_json::array();
    for (const WorkerStats& worker : stats->workers) {
        workers.push_back(
            {{"lcore", worker.lcore},
             {"bursts", worker.bursts},
             {"stalled_ms", worker.stalled_ms},
             {"stalls", worker.stalls},
             {"packets", total_of({worker}).packets},
             {"verdicts", verdicts_json(worker.by_verdict)},
             {"verdict_bytes", verdicts_json(worker.bytes_by_verdict)},
             {"reasons", reasons_json(worker.by_reason)},
             {"table_full", no_place(worker.by_table_event)},
             {"table", table_events_json(worker.by_table_event)},
             {"units", unit_events_json(worker.by_unit_event)},
             {"answers", answer_events_json(worker.by_answer_event)},
             {"connections", connections_json(worker.connections)},
             {"connection_events", connection_events_json(worker.connections.by_event)},
             {"asks", asks_json(worker.asks)},
             {"ask_events", ask_events_json(worker.asks.by_event)},
             {"shaping", shaping_json(worker.shaping)},
             {"table_slots", worker.table_slots},
             {"table_entries", worker.table_entries},
             {"table_evictions", worker.table_evictions},
             {"handed_over", worker.handed_over},
             {"ledger", ledger_json(worker.by_ledger_event)},
             {"cycles", cycles_json(worker.stages)},
             {"lanes", worker.lanes}});
    }
    return json_response({{"workers", std::move(workers)}});
}

}  // namespace sluice
