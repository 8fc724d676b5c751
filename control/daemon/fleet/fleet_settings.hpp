#pragma once
#include "control/fleet/etcd_client.hpp"
#include "control/fleet/fleet_records.hpp"
#include "control/fleet/fleet_store.hpp"
#include "lib/base/result.hpp"
#include "lib/policy/keys/key_setting.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Settings of single keys that hold on all boxes of a cluster, and acts that each box does once.
// Each change of them has a number, one more than the change before it.
inline constexpr std::size_t kMostFleetSettings = 1'024;
inline constexpr std::size_t kMostFleetTenantSettings = kMostFleetSettings / 2;  // of all tenants
inline constexpr std::size_t kMostFleetActs = 256;
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

// All of them at one instant. Records that cannot be read are left out, and counted.
struct FleetSettingsView {
    FleetSettings settings{};
    std::int64_t modified = 0;  // the revision of the latest change; 0: etcd has none
    std::size_t unread = 0;
};
[[nodiscard]] Result<FleetSettingsView> read_fleet_settings(FleetStore& store);

}  // namespace sluice
