#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/quic/long_header.hpp"

#include <cstddef>

namespace sluice {

// The packets of a datagram one after the other (RFC 9000, section 12.2), up to the first that does
// not belong to them: one with a short header, one that cannot be read, one with another
// Destination Connection ID than the first. A QUIC receiver discards such packets.
// Versions may differ: they do while a client turns from one to another (RFC 9368).
class QuicPackets {
public:
    explicit QuicPackets(ByteView datagram) noexcept : rest_{datagram} {}

    // False: there is no more; outcome() says what ended the walk.
    [[nodiscard]] bool next(QuicPacket& packet) noexcept;
    // The outcome of the header that was read last.
    [[nodiscard]] QuicHeaderOutcome outcome() const noexcept { return outcome_; }

private:
    ByteView rest_;
    ByteView dcid_;  // of the first packet
    bool begun_ = false;
    QuicHeaderOutcome outcome_ = QuicHeaderOutcome::Good;
};

// The least datagram in which a client may send an Initial (RFC 9000, section 14.1): servers drop
// shorter ones.
inline constexpr std::size_t kMinInitialDatagram = 1200;

// The contents of a datagram's headers; nothing is decrypted.
struct QuicDatagram {
    QuicHeaderOutcome outcome = QuicHeaderOutcome::ShortHeader;  // of the first packet
    QuicPacket first;                                            // good when the outcome is Good
    bool can_open = false;     // one of its packets is an Initial whose protection can be removed
    bool long_enough = false;  // kMinInitialDatagram
};

[[nodiscard]] QuicDatagram look_at_datagram(ByteView datagram) noexcept;

}  // namespace sluice
