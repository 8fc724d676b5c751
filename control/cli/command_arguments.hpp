#pragma once
#include "control/cli/options.hpp"

#include <string>

namespace CLI {
class App;
}

namespace sluice {

// Arguments of commands that read rule files or change the rules (rule_arguments.cpp).
void rules_argument(CLI::App& app, Options& options);
void strict_option(CLI::App& app, Options& options);
void at_option(CLI::App& app, Options& options);
void diff_arguments(CLI::App& app, Options& options);
void apply_arguments(CLI::App& app, Options& options);
void rule_arguments(CLI::App& app, Options& options);
void mode_arguments(CLI::App& app, Options& options);
void tenant_arguments(CLI::App& app, Options& options);
void rollback_arguments(CLI::App& app, Options& options);
void confirm_arguments(CLI::App& app, Options& options);
void shown_rules_arguments(CLI::App& app, Options& options);
void key_arguments(CLI::App& app, Options& options);

// Options and commands of a cluster (cluster_arguments.cpp).
void cluster_option(CLI::App& app, Options& options);
void detach_option(CLI::App& app, Options& options);
void canary_options(CLI::App& app, Options& options);
void nodes_arguments(CLI::App& app, Options& options);
void rollout_arguments(CLI::App& app, Options& options);
void drain_arguments(CLI::App& app, Options& options);

// The fault of a text that is to be a whole number from 1 on; empty: none. CLI11's own check quotes
// the largest double in full.
[[nodiscard]] std::string count_fault(const std::string& text);

// --watch and --count, of commands that show counters (watch_arguments.cpp).
void stats_arguments(CLI::App& app, Options& options);
// The same, and what of them is shown.
void workers_arguments(CLI::App& app, Options& options);
void shown_stats_arguments(CLI::App& app, Options& options);
void live_arguments(CLI::App& app, Options& options);
void heatmap_arguments(CLI::App& app, Options& options);
void top_arguments(CLI::App& app, Options& options);
// Options of what packets and events are told as they come.
void events_arguments(CLI::App& app, Options& options);
void trace_options(CLI::App& app, Options& options);
void capture_arguments(CLI::App& app, Options& options);
void preview_arguments(CLI::App& app, Options& options);
void merge_interval_arguments(CLI::App& app, Options& options);
// Commands for what stands beside the rules: programs in the kernel, webhooks.
void xdp_arguments(CLI::App& app, Options& options);
void notify_arguments(CLI::App& app, Options& options);
void store_arguments(CLI::App& app, Options& options);
void dashboard_arguments(CLI::App& app, Options& options);

}  // namespace sluice
