#pragma once
#include "lib/base/bytes.hpp"

#include <cstdint>

// UDP datagrams that are DNS, whichever ports they come and go by.
//
//   a port is 53            its header is plausible and its first question is sound
//   137, 5353 or 5355       none: NBNS, mDNS and LLMNR have DNS's format and are other protocols.
//                           Of a query to such a port, of a response from it: a client's own port
//                           says nothing
//   any other ports         also the rest has to fit: see looks_like_dns()
namespace sluice {

inline constexpr std::uint16_t kDnsPort = 53;

enum class DnsPorts : std::uint8_t { Dns, Other, Sibling };
[[nodiscard]] constexpr bool is_sibling_of_dns(std::uint16_t port) noexcept {
    return port == 137 || port == 5353 || port == 5355;
}
[[nodiscard]] constexpr DnsPorts dns_ports(std::uint16_t source, std::uint16_t target,
                                           bool is_response) noexcept {
    if (source == kDnsPort || target == kDnsPort) {
        return DnsPorts::Dns;
    }
    return is_sibling_of_dns(is_response ? source : target) ? DnsPorts::Sibling : DnsPorts::Other;
}

// True if bytes that no port speaks for are a DNS message: a QUERY, one question of a
// known class, a query without answers, and records that fill the message to its last
// byte. Bytes at random pass for one in less than 2^32 datagrams.
[[nodiscard]] bool looks_like_dns(ByteView message) noexcept;
// True if its header alone can be such a message's.
[[nodiscard]] bool may_look_like_dns(ByteView message) noexcept;

}  // namespace sluice
