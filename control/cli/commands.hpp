#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

namespace sluice {

// Without a daemon.
ExitCode run_check(const Options& options);
ExitCode run_inspect(const Options& options);
ExitCode run_replay(const Options& options);
ExitCode run_explain(const Options& options);
ExitCode run_simulate(const Options& options);
ExitCode run_box_config(const Options& options);
ExitCode run_store(const Options& options);
ExitCode run_fields(const Options& options);
ExitCode run_schema(const Options& options);
// With sluiced.
ExitCode run_apply(const Options& options);
ExitCode run_diff(const Options& options);
ExitCode run_rule(const Options& options);
ExitCode run_tenant(const Options& options);
ExitCode run_history(const Options& options);
ExitCode run_confirm(const Options& options);
ExitCode run_rollback(const Options& options);
ExitCode run_nodes(const Options& options);
ExitCode run_rollout(const Options& options);
ExitCode run_drain(const Options& options);
ExitCode run_rules(const Options& options);
ExitCode run_stats(const Options& options);
ExitCode run_live(const Options& options);
ExitCode run_heatmap(const Options& options);
ExitCode run_preview(const Options& options);
ExitCode run_top(const Options& options);
ExitCode run_events(const Options& options);
ExitCode run_trace(const Options& options);
ExitCode run_capture(const Options& options);
ExitCode run_mode(const Options& options);
ExitCode run_key(const Options& options);
ExitCode run_keys(const Options& options);
ExitCode run_bans(const Options& options);
ExitCode run_ports(const Options& options);
ExitCode run_workers(const Options& options);
ExitCode run_xdp(const Options& options);
ExitCode run_panic(const Options& options);
ExitCode run_notify(const Options& options);
ExitCode run_merge_interval(const Options& options);
ExitCode run_dashboard(const Options& options);
ExitCode run_health(const Options& options);

}  // namespace sluice
