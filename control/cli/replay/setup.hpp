#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/cli/replay/replay_rules.hpp"
#include "control/cli/replay/worker_set.hpp"

#include <optional>
#include <variant>

namespace sluice {

// The setup of a replay from the options and sluice.yaml. On failure the error is on standard
// error, and the exit code of the command comes back.
[[nodiscard]] std::variant<ReplaySetup, ExitCode> replay_setup(const Options& options);

// The rule file, ready to run by so many workers. Its problems are on standard error.
[[nodiscard]] std::optional<ReplayRules> replay_rules(const Options& options,
                                                      const ReplaySetup& setup);

// Compiled rules, ready to run by so many workers.
[[nodiscard]] Result<ReplayRules> ready_to_run(CompiledRules compiled, const ReplaySetup& setup);

}  // namespace sluice
