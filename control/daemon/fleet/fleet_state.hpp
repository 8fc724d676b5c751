#pragma once
#include "control/fleet/fleet_records.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

// What a box keeps on the disk of its place in the cluster, so that it needs no etcd to go on.
struct FleetState {
    std::string cluster{};
    std::string node{};
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

// The state of this box in this cluster; a new one where there is none, or where it is another
// cluster's. That of a box of another name is a copy: its rules stay, its slot and incarnation are
// the other box's. A damaged file is put aside.
[[nodiscard]] Result<FleetState> load_fleet_state(const std::string& directory,
                                                  const std::string& cluster,
                                                  const std::string& node);
[[nodiscard]] Result<Done> save_fleet_state(const std::string& directory, const FleetState& state);

// The state on the disk, for threads that each change parts of it.
class FleetDisk {
public:
    FleetDisk(std::string directory, FleetState state)
        : directory_{std::move(directory)}, state_{std::move(state)} {}

    [[nodiscard]] FleetState state() const {
        const std::lock_guard lock{mutex_};
        return state_;
    }
    [[nodiscard]] Result<Done> change(const std::function<void(FleetState&)>& change) {
        const std::lock_guard lock{mutex_};
        change(state_);
        return save_fleet_state(directory_, state_);
    }

private:
    std::string directory_;
    mutable std::mutex mutex_;
    FleetState state_;
};

}  // namespace sluice
