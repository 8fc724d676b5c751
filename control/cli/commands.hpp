#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

#include <array>
#include <string_view>

namespace sluice {

// Without a daemon.
ExitCode run_check(const Options& options);
ExitCode run_inspect(const Options& options);
ExitCode run_replay(const Options& options);
ExitCode run_explain(const Options& options);
ExitCode run_simulate(const Options& options);
ExitCode run_box_config(const Options& options);
ExitCode run_fields(const Options& options);
ExitCode run_schema(const Options& options);
// With sluiced.
ExitCode run_apply(const Options& options);
ExitCode run_diff(const Options& options);
ExitCode run_rule(const Options& options);
ExitCode run_history(const Options& options);
ExitCode run_confirm(const Options& options);
ExitCode run_rollback(const Options& options);
ExitCode run_rules(const Options& options);
ExitCode run_stats(const Options& options);
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
ExitCode run_merge_interval(const Options& options);
ExitCode run_health(const Options& options);

struct Command {
    std::string_view word;
    std::string_view help;
    ExitCode (*run)(const Options&);
};

inline constexpr auto kCommands = std::to_array<Command>({
    {"check", "check rule files; nothing is applied", run_check},
    {"inspect", "print fields of the frames of a capture", run_inspect},
    {"replay", "judge the frames of a capture by a rule file", run_replay},
    {"explain", "why one packet meets its verdict: fields, rules, keys, limits", run_explain},
    {"simulate", "one algorithm under a described load, as a table or a plot", run_simulate},
    {"box-config", "compile a sluice.yaml for sluice-dataplane, to standard output",
     run_box_config},
    {"fields", "list what conditions and keys can read, and which values it has", run_fields},
    {"schema", "print the JSON Schema of rule files, or of sluice.yaml, for editors", run_schema},
    {"apply", "make rule files the running ones", run_apply},
    {"diff", "show what applying rule files would change", run_diff},
    {"rule", "put one rule into the running set, replace or delete one", run_rule},
    {"history", "list the earlier rule sets that are kept", run_history},
    {"confirm", "keep the rules that `apply --confirm` put on trial", run_confirm},
    {"rollback", "go back to the rules of before, or end a trial now", run_rollback},
    {"rules", "show the running rules, one of them in full, or their text", run_rules},
    {"stats", "show what was passed and dropped, and why", run_stats},
    {"top", "show whom the rules count the most packets for", run_top},
    {"events", "what became of keys under rules with `events`, a JSON line each", run_events},
    {"trace", "what becomes of packets as they pass: verdict, rule, key", run_trace},
    {"capture", "write packets as they pass to a pcapng file, with their verdicts", run_capture},
    {"mode", "set a rule to monitor, enforce or off until the next apply", run_mode},
    {"key", "what a key of a rule has left; reset, grant, set, unset, ban, unban", run_key},
    {"keys", "list the live keys of a rule, with what they have left", run_keys},
    {"bans", "list the bans that hold now, and who has made them", run_bans},
    {"ports", "show the ports, or with --watch what passes and is lost", run_ports},
    {"workers", "show the workers, or with --cycles where their time goes", run_workers},
    {"xdp", "show the program in the kernel at af_xdp ports", run_xdp},
    {"panic", "forward everything unjudged (pass), or judge again (resume)", run_panic},
    {"merge-interval", "how often workers that share limits tell each other, from now on",
     run_merge_interval},
    {"health", "show whether sluiced has its dataplane", run_health},
});

}  // namespace sluice
