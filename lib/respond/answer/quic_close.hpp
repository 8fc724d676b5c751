#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/quic/initial_sealer.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// A client's Initial, whose protection the caller has removed.
struct RefusedInitial {
    std::uint32_t version = 0;
    ByteView client_dcid;  // of the connection's first Initial: what its keys come from
    ByteView client_scid;
    std::size_t datagram = 0;  // bytes that came
};

// No answer is larger.
inline constexpr std::size_t kMostQuicClose = 64;

// A datagram with which a server refuses a connection at once: an Initial with CONNECTION_CLOSE,
// CONNECTION_REFUSED (RFC 9000, 19.19 and 20.1), from a connection id of no bytes to the client's.
// Its packet number is one that a server does not come to, so that a client that has had packets of
// its server does not take it for one of those. It elicits no ACK, so it needs no padding. Returns
// its size; 0: the datagram had less than the 1,200 bytes that let a server answer, its version is
// not known, or OpenSSL refused. `to` has kMostQuicClose bytes.
[[nodiscard]] std::size_t write_quic_close(InitialSealer& sealer, const RefusedInitial& initial,
                                           MutableBytes to) noexcept;

}  // namespace sluice
