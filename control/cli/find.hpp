#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

namespace sluice {

// An answer that has no findings, but for rules that would count what is sought.
inline constexpr ExitCode kNothingFound{4};

// `find`: all that concerns an address, a host or a key.
ExitCode run_find(const Options& options);

}  // namespace sluice
