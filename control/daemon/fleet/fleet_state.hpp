#pragma once
#include "control/fleet/fleet_records.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// What a box keeps on the disk of its place in the cluster, so that it needs no etcd to go on.
struct FleetState {
    std::string cluster{};
    std::string incarnation{};  // tells this box from another of its name
    std::optional<std::size_t> slot{};
    HeadSet adopted{};           // in force for good; generation 0: none of the cluster's
    std::string adopted_text{};  // sum_of_text() its rules
    struct Trial {
        std::string rollout{};
        HeadSet next{};
        std::string text{};  // likewise
    };
    std::optional<Trial> trial{};
    std::uint64_t panic = 0;  // the number of the word that was followed last
};

inline constexpr const char* kFleetStateFile = "cluster.json";

// The state of this cluster; a new one where there is none, or where it is another cluster's. A
// damaged file is put aside.
[[nodiscard]] Result<FleetState> load_fleet_state(const std::string& directory,
                                                  const std::string& cluster);
[[nodiscard]] Result<Done> save_fleet_state(const std::string& directory, const FleetState& state);

}  // namespace sluice
