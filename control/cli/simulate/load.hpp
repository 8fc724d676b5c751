#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/simulate/simulate_options.hpp"
#include "control/simulation/load.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/rule_set.hpp"

#include <functional>
#include <string>

namespace sluice {

// The load that the options ask for.
struct AskedLoad : Load {
    // To be called after the last arrival: says on standard error how a capture ended, if not well.
    std::function<ExitCode()> finish = [] { return ExitCode::Done; };
};

// Errors: BadSyntax and OutOfRange (the options), Unreachable and others (the capture).
[[nodiscard]] Result<AskedLoad> make_load(const SimulateOptions& options,
                                          const std::string& pcap_file, Per per);

}  // namespace sluice
