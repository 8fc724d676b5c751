#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <csignal>

namespace sluice {

// Runs ports, workers and the control socket until `asked_to_stop` is set, and takes all down
// again. The EAL runs already. systemd, if it started us, is told (sd_notify). An Error says what
// did not come up.
[[nodiscard]] Result<Done> serve(const BoxConfig& box,
                                 const volatile std::sig_atomic_t& asked_to_stop);

}  // namespace sluice
