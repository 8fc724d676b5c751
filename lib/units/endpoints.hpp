#pragma once
#include "lib/pipeline/burst_units.hpp"

#include <cstdint>

namespace sluice {

// Who sends to whom, on which pair and from which side of it: one direction of a connection of TCP
// or UDP.
struct Endpoints {
    IpAddress src;
    IpAddress dst;
    std::uint64_t port;
    std::uint16_t sport;
    std::uint16_t dport;
    std::uint16_t vlan;
    std::uint8_t version;
    std::uint8_t dir;
};
[[nodiscard]] Endpoints endpoints_of(const PacketHeaders& headers) noexcept;
[[nodiscard]] std::uint64_t digest_of(const UnitSource& packet) noexcept;

// Half heads are accounted to addresses of IPv4 and networks of 64 bits of IPv6.
[[nodiscard]] std::uint64_t source_of(const UnitSource& packet) noexcept;

}  // namespace sluice
