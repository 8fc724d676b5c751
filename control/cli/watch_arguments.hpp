#pragma once
#include "control/cli/options.hpp"

namespace CLI {
class App;
}

namespace sluice {

// --watch and --count, of commands that show counters.
void stats_arguments(CLI::App& app, Options& options);
// The same for `workers`, and --cycles.
void workers_arguments(CLI::App& app, Options& options);
// The same, and which rules or keys are shown.
void shown_stats_arguments(CLI::App& app, Options& options);
void top_arguments(CLI::App& app, Options& options);

}  // namespace sluice
