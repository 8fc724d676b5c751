#pragma once
#include "control/daemon/cluster/cluster_event.hpp"
#include "control/json.hpp"
#include "lib/watch/events/key_event.hpp"

namespace sluice {

// An event as `sluicectl events` and notices tell it.
[[nodiscard]] Json event_json(const KeyEvent& event);
[[nodiscard]] Json event_json(const ClusterEvent& event);

}  // namespace sluice
