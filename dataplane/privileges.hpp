#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <vector>

namespace sluice {

// What the ports of this box need while they run: their interfaces are watched, taken down and up,
// and opened again; and what its folders need, where they are another user's. By number (CAP_…).
[[nodiscard]] std::vector<unsigned> capabilities_for(const BoxConfig& box);

// Once ports, state and control socket are open: gives up every other capability, new privileges,
// and the system calls that a dataplane has no use for, for all threads and for good.
[[nodiscard]] Result<Done> give_up_privileges(const BoxConfig& box);

}  // namespace sluice
