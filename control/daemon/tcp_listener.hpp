#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/fd.hpp"
#include "lib/wire/socket.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// `192.0.2.1:8480`, `[2001:db8::1]:8480`.
[[nodiscard]] std::string endpoint_text(const ApiOptions& api);

// A listening, non-blocking TCP socket.
[[nodiscard]] Result<Fd> listen_tcp(const ApiOptions& api, std::string_view what = "the API");

// IPv4 also where a socket of IPv6 has mapped it. nullopt: the peer has gone, or has no address.
[[nodiscard]] std::optional<VersionedAddress> address_of_peer(int fd);

// The peer at the other end of a TCP connection, in the terms of bounds that are one user's: as if
// each IPv4 address, and each /64 of IPv6, were a user. It has no rights, and no process.
[[nodiscard]] Result<Peer> source_of(int fd);
// The peer's address, for people.
[[nodiscard]] std::string source_text(int fd);

// Nobody, as whom those are recorded who come by TCP.
[[nodiscard]] Peer tcp_user() noexcept;

}  // namespace sluice
