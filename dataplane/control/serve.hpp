#pragma once
#include "dataplane/box/dataplane.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <csignal>

namespace sluice {

// Answers at the control socket, and does what is due in between, until `asked_to_stop` is set. The
// workers run already. Once the socket is open, privileges that are not needed any more are given
// up; systemd, if it has started us, learns of it (sd_notify). An Error says why there is no
// socket.
[[nodiscard]] Result<Done> serve(Dataplane& dataplane, const BoxConfig& box,
                                 const volatile std::sig_atomic_t& asked_to_stop);

}  // namespace sluice
