#pragma once
#include "control/json.hpp"
#include "lib/wire/trace_messages.hpp"

namespace sluice {

// Packets of a trace as the API tells of them, oldest first.
[[nodiscard]] Json traced_json(const TracedPackets& packets);

}  // namespace sluice
