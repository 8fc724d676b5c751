#pragma once
#include "lib/base/result.hpp"

#include <optional>

namespace sluice {

// The kernel's interface behind a virtual port (af_packet, af_xdp, tap), by its index.

// Whether it is up and has carrier; nullopt: it is not to be found (moved to another namespace).
[[nodiscard]] std::optional<bool> netdev_carrier(unsigned if_index);

[[nodiscard]] Result<Done> set_netdev_up(unsigned if_index, bool up);

}  // namespace sluice
