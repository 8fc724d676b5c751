#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/quic/crypto_stream.hpp"

namespace sluice {

// The frames of one Initial packet.
struct InitialFrames {
    bool allowed = true;       // false: a frame that an Initial must not have, or half of one
    bool has_crypto = false;   // bytes of the handshake
    bool beyond_room = false;  // of which some have no room
    bool differs = false;      // bytes of CRYPTO frames that are there came as others
    bool too_many_pieces = false;
    bool closes = false;  // CONNECTION_CLOSE
};

// Adds what CRYPTO frames carry to the stream; PADDING, PING, ACK and CONNECTION_CLOSE are stepped
// over (RFC 9000, sections 12.4 and 19). Reading stops at the first frame that is not allowed.
[[nodiscard]] InitialFrames read_initial_frames(ByteView payload, CryptoStream& stream) noexcept;

}  // namespace sluice
