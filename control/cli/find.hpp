#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

namespace sluice {

// `find`: all that concerns an address, a host or a key.
ExitCode run_find(const Options& options);

}  // namespace sluice
