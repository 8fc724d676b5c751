#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/wide.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstdint>

namespace sluice {

// An address as the number that tables are looked up by.
[[nodiscard]] inline std::uint64_t v4_key(const IpAddress& address) noexcept {
    return load_be<std::uint32_t>(address.bytes.data());
}

[[nodiscard]] inline Wide v6_key(const IpAddress& address) noexcept {
    return (Wide{load_be<std::uint64_t>(address.bytes.data())} << 64) |
           load_be<std::uint64_t>(address.bytes.data() + 8);
}

[[nodiscard]] inline Wide wide_key(IpVersion version, const IpAddress& address) noexcept {
    return version == IpVersion::V4 ? Wide{v4_key(address)} : v6_key(address);
}

}  // namespace sluice
