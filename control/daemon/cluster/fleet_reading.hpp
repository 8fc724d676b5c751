#pragma once
#include "control/fleet/fleet_store.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The cluster as its etcd has it, at one instant.
struct FleetReading {
    FleetView view{};
    std::vector<NodeRecord> nodes{};
    std::vector<std::string> drained{};
    std::vector<std::string> away{};                  // members of before, that may come back
    std::chrono::steady_clock::time_point read_at{};  // when it could be read last
    bool was_read = false;                            // ever
    std::string problem{};                            // why it could not be since then
};

}  // namespace sluice
