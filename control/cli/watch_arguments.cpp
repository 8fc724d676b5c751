#include "control/cli/watch_arguments.hpp"

#include <CLI/CLI.hpp>

namespace sluice {

void stats_arguments(CLI::App& app, Options& options) {
    CLI::Option* const watch = app.add_flag("--watch", options.watch, "again each second");
    app.add_option("--count", options.count, "stop watching after so many times")
        ->needs(watch)
        ->check(CLI::PositiveNumber);
}

void workers_arguments(CLI::App& app, Options& options) {
    app.add_flag("--cycles", options.cycles, "where their time goes: cycles per packet and stage");
    stats_arguments(app, options);
}

}  // namespace sluice
