#include "lib/units/endpoints.hpp"

#include "lib/hash/group_key.hpp"

#include <span>
#include <type_traits>

namespace sluice {

static_assert(std::has_unique_object_representations_v<Endpoints>, "its bytes are hashed");

Endpoints endpoints_of(const PacketHeaders& headers) noexcept {
    return {.src = headers.src,
            .dst = headers.dst,
            .port = headers.port,
            .sport = headers.sport,
            .dport = headers.dport,
            .vlan = headers.fields.has(Field::VlanId) ? headers.vlan_id : std::uint16_t{0xFFFF},
            .version = static_cast<std::uint8_t>(headers.ip_version),
            .dir = static_cast<std::uint8_t>(headers.dir)};
}

std::uint64_t digest_of(const UnitSource& packet) noexcept {
    const Endpoints endpoints = endpoints_of(packet.headers);
    return packet.hash.digest(std::as_bytes(std::span{&endpoints, 1}));
}

std::uint64_t source_of(const UnitSource& packet) noexcept {
    const bool v6 = packet.headers.ip_version == IpVersion::V6;
    const IpAddress source = masked(packet.headers.src, v6 ? 64 : 32);
    return packet.hash.digest(std::as_bytes(std::span{&source, 1}));
}

}  // namespace sluice
