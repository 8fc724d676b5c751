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
        nlohmann::ordered_json json{{"lcore", worker.lcore},
                                    {"bursts", worker.bursts},
                                    {"stalled_ms", worker.stalled_ms},
                                    {"stalls", worker.stalls}};
        json.update(counts_json(worker));
        json.update({{"table_slots", worker.table_slots},
                     {"table_entries", worker.table_entries},
                     {"table_evictions", worker.table_evictions},
                     {"handed_over", worker.handed_over},
                     {"ledger", ledger_json(worker)},
                     {"cycles", cycles_json(worker.stages)},
                     {"lanes", worker.lanes}});
        workers.push_back(std::move(json));
    }
    return json_response({{"workers", std::move(workers)}});
}

}  // namespace sluice
