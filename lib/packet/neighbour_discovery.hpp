#pragma once
#include "lib/packet/packet_headers.hpp"

#include <cstdint>

namespace sluice {

// True of ICMPv6 by which neighbours find each other (RFC 4861): solicitations, advertisements and
// redirects, that no router has forwarded. In a tunnel it is nobody's neighbour that sends it.
[[nodiscard]] inline bool is_neighbour_discovery(const PacketHeaders& headers) noexcept {
    constexpr std::uint8_t kIcmp6 = 58;
    constexpr std::uint8_t kRouterSolicitation = 133;
    constexpr std::uint8_t kRedirect = 137;
    constexpr std::uint8_t kNotForwarded = 255;
    return !headers.fields.has(Field::OuterIpSrc) && headers.proto == kIcmp6 &&
           headers.ip_version == IpVersion::V6 && headers.ttl == kNotForwarded &&
           headers.fields.has(Field::IcmpType) && headers.icmp_type >= kRouterSolicitation &&
           headers.icmp_type <= kRedirect;
}

}  // namespace sluice
