#pragma once
#include "control/daemon/key_settings.hpp"
#include "control/fleet/etcd_client.hpp"
#include "control/fleet/fleet_records.hpp"
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"
#include "lib/policy/keys/key_setting.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Settings of single keys that hold on all boxes of a cluster, and acts that each box does once.
// Each change of them has a number, one more than the change before it.
inline constexpr std::size_t kMostFleetSettings = 1'024;
inline constexpr std::size_t kMostFleetTenantSettings = kMostFleetSettings / 2;  // of all tenants
inline constexpr std::size_t kMostFleetActs = 256;
inline constexpr std::size_t kMostFleetTenantActs = kMostFleetActs / 4;  // of all tenants
inline constexpr std::int64_t kFleetActSeconds = 600;  // a box that comes back later has missed it

struct FleetSetting {
    std::uint64_t number = 0;  // of the change that set it
    std::string by{};          // the operator
    KeySetting setting{};

    [[nodiscard]] bool operator==(const FleetSetting&) const = default;
};

// Lets a key out of the penalty boxes, or gives it units back.
struct FleetAct {
    std::uint64_t number = 0;
    std::string by{};
    std::string action{};  // unban, reset, forgive or grant
    std::string rule{};
    std::string key{};
    std::size_t tier = 1;
    std::string limit{};      // empty: all
    std::uint64_t units = 0;  // of grant

    [[nodiscard]] bool operator==(const FleetAct&) const = default;
};

struct FleetSettings {
    std::uint64_t number = 0;  // 0: there never were any
    std::string by{};          // the operator of the latest change
    std::vector<FleetSetting> set{};
    std::vector<FleetAct> acts{};

    [[nodiscard]] bool operator==(const FleetSettings&) const = default;
};

// True if both are of one place, so that one takes the other's: of a key its ban, or the numbers of
// one limit, or its exemption.
[[nodiscard]] bool is_one_place(const KeySetting& a, const KeySetting& b);
// True if both say the same, whoever has set them, and until when.
[[nodiscard]] bool says_same(const KeySetting& a, const KeySetting& b);
[[nodiscard]] bool is_set(const KeySettings& settings, const KeySetting& setting);
[[nodiscard]] SettingChoice choice_of(const KeySetting& setting);
// The setting of that place; nullptr: it has none.
[[nodiscard]] const FleetSetting* find_place(const FleetSettings& in, const KeySetting& setting);
// The record's key in etcd.
[[nodiscard]] std::string key_of_setting(const FleetKeys& keys, const KeySetting& setting);

// Values from outside: whatever is none is an Error, and texts are bounded.
[[nodiscard]] std::string text_of(const FleetSetting& setting);
[[nodiscard]] Result<FleetSetting> fleet_setting_from(std::string_view text);
[[nodiscard]] std::string text_of(const FleetAct& act);
[[nodiscard]] Result<FleetAct> fleet_act_from(std::string_view text);
// The record of the latest change: its number, and by whom.
[[nodiscard]] std::string text_of_number(const FleetSettings& settings);
[[nodiscard]] Result<FleetSettings> fleet_number_from(std::string_view text);

// The key that each step of a change writes but the last one, so that no other change goes between
// them.
[[nodiscard]] std::string key_of_steps(const FleetKeys& keys);

// Settings and acts of the cluster at one instant. Records that cannot be read are named alone.
struct FleetSettingsView {
    FleetSettings settings{};
    FleetSettings unfinished{};  // of changes that are under way, or were refused half-way
    std::int64_t modified = 0;   // the revision of the latest change; 0: etcd has none
    std::int64_t stepped = 0;    // that of the latest step of one; 0: likewise
    std::set<std::string> unread{};

    // True where the setting of that key in etcd may be another than `settings` says.
    [[nodiscard]] bool hides(const FleetKeys& keys, const KeySetting& setting) const;
};
[[nodiscard]] Result<FleetSettingsView> read_fleet_settings(FleetStore& store);

}  // namespace sluice
