#include "control/cli/command_arguments.hpp"
#include "control/confirm_time.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <string>

namespace sluice {
namespace {

constexpr std::chrono::hours kLongestSoak{7};

void cluster_config_option(CLI::App& app, Options& options) {
    app.add_option("--config", options.config_file,
                   "of a cluster: sluice.yaml; default /etc/sluice/sluice.yaml");
}

}  // namespace

void cluster_option(CLI::App& app, Options& options) {
    app.add_flag("--cluster", options.cluster, "on all boxes of the cluster");
    cluster_config_option(app, options);
}

void detach_option(CLI::App& app, Options& options) {
    app.add_flag("--detach", options.detach,
                 "on this box alone, though its cluster has other rules, until the next rollout");
}

void canary_options(CLI::App& app, Options& options) {
    CLI::Option* const canary =
        app.add_option("--canary", options.canary,
                       "of --cluster: first on this box, then on a quarter of them, then on all");
    app.add_option("--soak", options.soak, "of --canary: how long each waits; default 60s")
        ->needs(canary)
        ->type_name("TIME")
        ->check([](const std::string& text) {
            const Result<Nanoseconds> time = parse_confirm_time(text);
            return !time                  ? time.error().what
                   : *time > kLongestSoak ? "three waves of it are to end within the day that a "
                                            "box's trial lasts at most: 7h is the longest"
                                          : std::string{};
        });
    app.add_flag("--now", options.now, "of --cluster: ends the rollout that is under way")
        ->excludes(canary);
}

void nodes_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word,
                   "forget: a box that is away or drained does not return; resize: the cluster "
                   "gets the `size` "
                   "of sluice.yaml; none: shows the boxes")
        ->check(CLI::IsMember({"forget", "resize"}));
    app.add_option("NODE", options.node, "of forget: the box, by its `cluster.node`");
    cluster_config_option(app, options);
}

void rollout_arguments(CLI::App& app, Options& options) {
    app.add_option("ACTION", options.word, "status, abort or history")
        ->required()
        ->check(CLI::IsMember({"status", "abort", "history"}));
    cluster_config_option(app, options);
}

void drain_arguments(CLI::App& app, Options& options) {
    app.add_option("NODE", options.node, "the box, by its `cluster.node`")->required();
    app.add_flag("--undo", options.undo, "it may take a slot again");
    cluster_config_option(app, options);
}

}  // namespace sluice
