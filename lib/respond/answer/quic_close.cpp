#include "lib/respond/answer/quic_close.hpp"

#include "lib/l7/quic/datagram.hpp"
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/quic/packet_protection.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "lib/respond/answer/byte_writer.hpp"

#include <array>

namespace sluice {
namespace {

// Type, CONNECTION_REFUSED, no frame type that caused it, no reason phrase.
constexpr std::array kCloseFrame = {std::byte{0x1C}, std::byte{0x02}, std::byte{0x00},
                                    std::byte{0x00}};
// Clients whose server has answered a part of the hello know a few low numbers of it. One that is
// less than half its range ahead of these is decoded as it stands (RFC 9000, A.3).
constexpr std::uint32_t kNumber = 0x4000'0000;
constexpr std::size_t kNumberSize = sizeof(kNumber);

// Long form, fixed bit, Initial, four bytes of number: version 2 counts the types one further on.
constexpr std::uint8_t first_byte(std::uint32_t version) noexcept {
    return version == kQuicV2 ? 0xD3 : 0xC3;
}

}  // namespace

std::size_t write_quic_close(InitialSealer& sealer, const RefusedInitial& initial,
                             MutableBytes to) noexcept {
    if (initial.datagram < kMinInitialDatagram || !is_known_quic_version(initial.version) ||
        initial.client_scid.size() > ConnectionId::kMaxSize ||
        initial.client_dcid.size() > ConnectionId::kMaxSize) {
        return 0;
    }
    ByteWriter out{to};
    out.u8(first_byte(initial.version));
    out.be32(initial.version);
    out.u8(static_cast<std::uint8_t>(initial.client_scid.size()));
    out.bytes(initial.client_scid);
    out.u8(0);  // its own connection id, and no token
    out.u8(0);
    out.u8(static_cast<std::uint8_t>(kNumberSize + kCloseFrame.size() + kQuicTagSize));
    const std::size_t number_at = out.at();
    out.be32(kNumber);
    out.bytes(kCloseFrame);
    const std::size_t size = out.at() + kQuicTagSize;
    const bool sealed = sealer.seal({.version = initial.version,
                                     .client_dcid = initial.client_dcid,
                                     .packet = to.first(size),
                                     .number_at = number_at});
    return sealed ? size : 0;
}

}  // namespace sluice
