#include "control/cli/command_arguments.hpp"

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

void shown_stats_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rules, "only this rule; repeatable")->allow_extra_args(false);
    app.add_flag("--nonzero", options.nonzero, "without rules that have matched nothing");
    stats_arguments(app, options);
}

void top_arguments(CLI::App& app, Options& options) {
    app.add_option("--rule", options.rule, "id of one rule; all of them otherwise");
    app.add_option("--by", options.by, "hits, bits, denied or remaining (the least first)")
        ->capture_default_str()
        ->check(CLI::IsMember({"hits", "bits", "denied", "remaining"}));
    app.add_option("--window", options.window, "over how long: 1s, 10s or 60s")
        ->capture_default_str()
        ->check(CLI::IsMember({"1s", "10s", "60s"}));
    app.add_option("--keys", options.keys, "how many keys at most")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1000U));
    stats_arguments(app, options);
}

}  // namespace sluice
