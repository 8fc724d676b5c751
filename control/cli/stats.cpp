#include "control/cli/commands.hpp"
#include "control/cli/rates.hpp"
#include "control/cli/stats_text.hpp"

namespace sluice {

ExitCode run_stats(const Options& options) {
    return show_with_rates(options, "/v1/stats", [](const Sample& sample) {
        return stats_text(sample.now, sample.before, sample.seconds);
    });
}

}  // namespace sluice
