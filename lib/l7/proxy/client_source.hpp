#pragma once
#include "lib/match/address_set.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::uint8_t kMostClientHops = 32;
inline constexpr std::size_t kMaxClientHeader = 128;  // bytes of its name

// A token (RFC 9110, 5.6.2) of at most kMaxClientHeader bytes.
[[nodiscard]] bool is_header_name(std::string_view name) noexcept;

// The client of a request: who names it, and where (`client_ip: {trusted_proxies, from}`).
struct ClientSource {
    AddressSetParts proxies;  // sources of packets that are believed
    std::string header;       // its name, in small letters where the compiler made it
    std::uint8_t hops = 1;    // which entry of the last such header, from the right

    [[nodiscard]] bool operator==(const ClientSource&) const noexcept = default;
};

[[nodiscard]] bool are_sound(const ClientSource& clients);

}  // namespace sluice
