#include "lib/l7/quic/datagram.hpp"

#include <algorithm>

namespace sluice {

bool QuicPackets::next(QuicPacket& packet) noexcept {
    if (rest_.empty() && begun_) {
        return false;
    }
    QuicPacket found;
    outcome_ = read_long_header(rest_, found);
    if (outcome_ != QuicHeaderOutcome::Good) {
        rest_ = {};
        begun_ = true;
        return false;
    }
    if (!begun_) {
        dcid_ = found.dcid;
        begun_ = true;
    } else if (!std::ranges::equal(found.dcid, dcid_)) {
        rest_ = {};
        return false;
    }
    packet = found;
    rest_ = rest_.subspan(found.bytes.size());
    return true;
}

QuicDatagram look_at_datagram(ByteView datagram) noexcept {
    QuicDatagram look{.long_enough = datagram.size() >= kMinInitialDatagram};
    QuicPackets packets{datagram};
    QuicPacket packet;
    if (!packets.next(packet)) {
        look.outcome = packets.outcome();
        return look;
    }
    look.outcome = QuicHeaderOutcome::Good;
    look.first = packet;
    do {
        look.can_open = packet.can_open();
    } while (!look.can_open && packets.next(packet));
    return look;
}

}  // namespace sluice
