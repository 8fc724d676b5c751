#include "control/daemon/api/api.hpp"
#include "control/daemon/api/numbers.hpp"
#include "control/daemon/api/stat_json.hpp"

namespace sluice {

HttpResponse get_workers(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    if (!stats) {
        return no_dataplane(stats.error());
    }
    nlohmann::ordered_json workers = nlohmann::ordered_json::array();
    for (const WorkerStats& worker : stats->workers) {
        nlohmann::ordered_json json = numbers_json(worker);
        json.update(counts_json(worker));
        json.update({{"ledger", ledger_json(worker)},
                     {"cycles", cycles_json(worker.stages)},
                     {"lanes", worker.lanes}});
        workers.push_back(std::move(json));
    }
    return json_response({{"workers", std::move(workers)}});
}

}  // namespace sluice
