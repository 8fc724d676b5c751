#pragma once
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// A service at an address of the box itself: all of a protocol, or one destination port of it.
struct ManagedService {
    std::uint8_t proto = 0;
    std::uint16_t port = 0;  // 0: it has none

    bool operator==(const ManagedService&) const = default;
};

// Packets that go to the kernel's own stack at af_xdp ports, and past the box. Questions for the
// link address of `to` (ARP, neighbour discovery) are allowed too.
struct ManagementOptions {
    std::vector<ManagedService> allow;
    std::vector<VersionedAddress> to;
    std::uint64_t rate = 1000;  // packets a second, of each port; more are dropped

    bool operator==(const ManagementOptions&) const = default;
};
inline constexpr std::size_t kMostManaged = 64;  // services, and addresses

}  // namespace sluice
