#pragma once
#include "dataplane/box/dataplane.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <csignal>

namespace sluice {

// Answers at the control socket, and does what is due in between, until `asked_to_stop` is set. The
// workers run already; systemd, if it has started us, learns of it (sd_notify). An Error says why
// there is no socket.
[[nodiscard]] Result<Done> serve(Dataplane& dataplane, const SocketOptions& socket,
                                 const volatile std::sig_atomic_t& asked_to_stop);

}  // namespace sluice
