#pragma once
#include "lib/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// The kernel's interface behind a virtual port (af_packet, af_xdp, tap). By index and name: either
// alone may come to mean another one after it was moved to another namespace or renamed.
struct Netdev {
    unsigned index = 0;  // 0: there is none
    std::string name;

    bool operator==(const Netdev&) const = default;
};

// The interface with this index; no name if it is not to be found.
[[nodiscard]] Netdev find_netdev(unsigned index);

// True if it was deleted, or has left for another namespace. One that was renamed has not.
[[nodiscard]] bool netdev_is_gone(const Netdev& netdev);
// True if there is an interface of that name.
[[nodiscard]] bool netdev_is_called(const std::string& name);

// True if it is up and has carrier; nullopt: it is not to be found.
[[nodiscard]] std::optional<bool> netdev_carrier(const Netdev& netdev);

[[nodiscard]] std::optional<std::uint16_t> netdev_mtu(const Netdev& netdev);

// Settings of an interface that a port changes, as they were before.
struct NetdevSettings {
    std::uint16_t mtu = 0;
    bool promiscuous = false;

    bool operator==(const NetdevSettings&) const = default;
};
[[nodiscard]] std::optional<NetdevSettings> netdev_settings(const Netdev& netdev);
// Changes that a port has made to an interface.
struct NetdevChange {
    NetdevSettings before;
    std::uint16_t set_mtu = 0;  // the MTU that the port gave it; 0: nobody knows

    bool operator==(const NetdevChange&) const = default;
};
// The settings to restore on an interface that is as `now` says: later ones of others stay.
[[nodiscard]] NetdevSettings without_change(const NetdevChange& change, const NetdevSettings& now);
// Takes the change back.
[[nodiscard]] Result<Done> restore_netdev(const Netdev& netdev, const NetdevChange& change);

// The driver, as `ethtool -i` names it; empty: nobody says.
[[nodiscard]] std::string netdev_driver(const std::string& name);

[[nodiscard]] Result<Done> set_netdev_up(const Netdev& netdev, bool up);

}  // namespace sluice
