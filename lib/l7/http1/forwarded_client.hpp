#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

// The client that proxies name in a header such as X-Forwarded-For, each of which writes the
// address that it was asked from behind those that it was told:
//
//     client, proxy of others, client of our outermost proxy, that proxy
//                              ^ hops 2                       ^ hops 1
//
// `list` is the last such header of a request, and `hops` counts its entries from the right, 1 on:
// as many as our own proxies write. What stands further left the client wrote itself. An entry is
// an address, maybe with a port: 192.0.2.1, 192.0.2.1:4711, 2001:db8::1, [2001:db8::1],
// [2001:db8::1]:4711; spaces and tabs around it do not count, and ::ffff:192.0.2.1 is 192.0.2.1.
// nullopt: there is no such entry, or it is nothing of the kind ("unknown", a name, an address with
// a zone, nothing).
[[nodiscard]] std::optional<VersionedAddress> forwarded_client(ByteView list,
                                                               std::size_t hops) noexcept;

}  // namespace sluice
