#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/replay/replay_rules.hpp"
#include "control/replay/worker_set.hpp"

#include <variant>

namespace sluice {

// The setup of a replay from the options and sluice.yaml. On failure the error is on standard
// error, and the exit code of the command comes back.
[[nodiscard]] std::variant<ReplaySetup, ExitCode> replay_setup(const Options& options);

// Rules that enforce act, or do not; services do in any case.
enum class RulesAct : bool { No, Yes };

// The rule files, ready to run by so many workers. Their problems are on standard error. Where they
// have services and no file says how the box spreads frames, the inside mirrors the outside.
[[nodiscard]] std::variant<ReplayRules, ExitCode> replay_rules(const Options& options,
                                                               ReplaySetup& setup,
                                                               RulesAct act = RulesAct::Yes);

}  // namespace sluice
