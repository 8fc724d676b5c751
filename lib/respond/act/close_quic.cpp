#include "lib/l7/quic/long_header.hpp"
#include "lib/l7/stream/connection_ends.hpp"
#include "lib/packet/transport.hpp"
#include "lib/respond/act/answerer_packet.hpp"

// Connections of QUIC that are closed in their servers' name, and closed again where the client
// repeats its Initial since the close was lost.
namespace sluice {

std::size_t Answerer::write_close(const Packet& packet, ByteView dcid) noexcept {
    const ByteView datagram = payload_of(packet.seen);
    QuicPacket initial;
    if (read_long_header(datagram, initial) != QuicHeaderOutcome::Good ||
        initial.type != QuicPacketType::Initial) {
        return 0;
    }
    return write_quic_close(sealer_,
                            {.version = initial.version,
                             .client_dcid = dcid,
                             .client_scid = initial.scid,
                             .datagram = datagram.size()},
                            quic_close_);
}

bool Answerer::close_quic(const Packet& packet) noexcept {
    const ByteView dcid = packet.seen.quic_dcid;
    const std::size_t size = write_close(packet, dcid);
    if (size == 0) {
        count(AnswerEvent::NotAnswerable);
        return false;
    }
    const AnswerContext& context = packet.context;
    const std::uint64_t digest = connection_ends(packet.seen.headers, context.hash).along();
    if (closed_quic_.add(digest, dcid, seconds_of(context.now))) {
        count(AnswerEvent::Evicted);
    }
    made_.add({.is_datagram = true, .payload = ByteView{quic_close_}.first(size)});
    count(AnswerEvent::QuicClosed);
    return true;
}

bool Answerer::close_again(const AnsweredPacket& packet, const AnswerContext& context) noexcept {
    made_.count = 0;
    const Packet of{.seen = packet, .context = context, .tcp = {}};
    if (packet.headers.proto != kProtoUdp) {
        return false;
    }
    ClosedQuic::Connection* const closed = closed_quic_.find(
        connection_ends(packet.headers, context.hash).along(), seconds_of(context.now));
    if (closed == nullptr || closed->repeats == kMostRepeats || !may_answer(of) ||
        !find_routes(packet)) {
        return false;
    }
    const std::size_t size = write_close(of, closed->dcid.bytes());
    if (size == 0) {
        return false;
    }
    ++closed->repeats;
    made_.add({.is_datagram = true, .payload = ByteView{quic_close_}.first(size)});
    count(AnswerEvent::Repeated);
    return true;
}

}  // namespace sluice
