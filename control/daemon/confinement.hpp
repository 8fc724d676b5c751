#pragma once
#include "control/daemon/settings.hpp"
#include "lib/base/result.hpp"

namespace sluice {

// Before there is a second thread. With a user in the settings: what sluiced keeps and where its
// sockets lie is made that user's, and sluiced runs as that user. Started by root without one it
// keeps what it needs to read lists with the rights of who applies them. Either way it gives up
// new privileges and the system calls that it has no use for.
[[nodiscard]] Result<Done> confine(const Settings& settings);

}  // namespace sluice
