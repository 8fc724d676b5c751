#include "control/replay/replay_rules.hpp"

#include "control/replay/worker_set.hpp"

#include <utility>

namespace sluice {

Result<ReplayRules> ready_to_run(CompiledRules compiled, const ReplaySetup& setup) {
    Result<LoadedRules> loaded = LoadedRules::make(
        std::move(compiled.set),
        {.secret = kReplaySecret, .sharers = {setup.workers, setup.merge_interval}});
    if (!loaded) {
        return loaded.error();
    }
    return ReplayRules{std::move(compiled.rules), std::move(compiled.services), compiled.client,
                       *std::move(loaded)};
}

}  // namespace sluice
