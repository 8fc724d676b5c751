#pragma once
#include "lib/packet/client_address.hpp"

namespace sluice {

inline constexpr Unwrapping kMappedAlone = [] {
    Unwrapping mapped;
    mapped.add(Wrapping::V4Mapped);
    return mapped;
}();

// A client whom a proxy names by the address that it knows it by. A proxy with one socket for IPv4
// and IPv6 knows a client of IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2), which is on no wire: it is
// a.b.c.d here, and no client more.
[[nodiscard]] inline VersionedAddress named_client(const VersionedAddress& named) noexcept {
    return unwrapped(named, kMappedAlone);
}

}  // namespace sluice
