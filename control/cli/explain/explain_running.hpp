#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/replay/worker_set.hpp"

namespace sluice {

// explain without a rule file: what would become of a packet, described or of a capture, on the
// running box now.
// Nothing is spent there.
[[nodiscard]] ExitCode explain_running(const Options& options, const ReplaySetup& setup);

}  // namespace sluice
