#pragma once
#include "control/daemon/fleet/fleet_settings.hpp"
#include "control/daemon/key_settings.hpp"
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// A change of what holds for single keys on all boxes of the cluster.
struct FleetSettingsChange {
    KeySettings put{};
    std::vector<SettingChoice> gone{};
    std::vector<FleetAct> acts{};
    std::string by{};
    bool of_tenant = false;
    bool needs_any = false;  // without acts, and with none of `gone`, there is nothing to change
};

// Settings that hold: those of etcd, and those that the box has followed where etcd has lost them
// or a change that was refused half-way has taken them away.
// Settings that the change lifts are among them also where nobody can read their records.
[[nodiscard]] FleetSettings settings_before(const FleetKeys& keys, const FleetSettingsView& view,
                                            const FleetSettings& own,
                                            const FleetSettingsChange& change);

// The settings that a change leads to.
struct AfterChange {
    FleetSettings next{};
    std::size_t left = 0;  // acts of an unban for which there is no room
    bool is_nothing = false;
};

// Settings after the change, which has this number. Errc::TooMany: there is no room for them.
[[nodiscard]] Result<AfterChange> settings_after(const FleetSettings& before,
                                                 const FleetSettingsChange& change,
                                                 std::uint64_t number);

}  // namespace sluice
