#include "lib/respond/act/answerer_packet.hpp"
#include "lib/respond/answer/answer_bounds.hpp"

// Packets that follow on connections that were answered.
namespace sluice {
namespace {

std::int32_t ahead(std::uint32_t from, std::uint32_t at) noexcept {
    return static_cast<std::int32_t>(at - from);
}

bool has_all(const AnsweredConnection& connection, const TcpFacts& came) noexcept {
    return came.has(kTcpAck) && ahead(connection.end, came.ack) >= 0;
}

void note_received(AnsweredConnection& connection, const TcpFacts& came) noexcept {
    const bool in_order = ahead(came.seq, connection.received) >= 0;
    if (in_order && ahead(connection.received, came.end()) > 0) {
        connection.received = came.end();
    }
    connection.has_finished |= came.has(kTcpFin) && has_all(connection, came);
}

// The second ACK of the same byte says that segments came behind one that did not. Their last one
// acknowledges the request, which is then not repeated.
bool lacks_a_segment(AnsweredConnection& connection, const TcpFacts& came) noexcept {
    const bool is_bare = came.payload == 0 && came.has(kTcpAck) && !came.has(kTcpFin);
    if (!is_bare || ahead(connection.begin, came.ack) < 0) {
        return false;
    }
    const bool again = connection.has_acked && connection.acked == came.ack;
    connection.acked = came.ack;
    connection.has_acked = true;
    return again;
}

}  // namespace

bool Answerer::follow(const AnsweredPacket& packet, const AnswerContext& context,
                      Decision& decision) noexcept {
    made_.count = 0;
    const auto facts = read_tcp_facts(packet.headers, packet.frame.bytes);
    if (!facts) {
        return false;
    }
    const Packet of{.seen = packet, .context = context, .tcp = *facts};
    const SegmentNumbers numbers = facts->numbers();
    const ConnectionEnds ends = connection_ends(packet.headers, context.hash);
    if (numbers.begins()) {
        answered_.forget(ends, facts->seq, context.now);
        return false;
    }
    const AnsweredTraffic::Met met = answered_.meet(ends, numbers, context.now);
    if (met.client != nullptr && met.client->waits) {
        return follow_waiting(of, *met.client, decision);
    }
    if (!met) {
        if (answered_.may_have_waiting(context.now) && follow_waited_for(of, decision)) {
            return true;
        }
        return decision.reason == Reason::Retransmission && reset_forgotten(of);
    }
    decision = dropped_for(Reason::Answered);
    if (find_routes(packet)) {
        met.client != nullptr ? follow_client(of, *met.client) : follow_server(of);
    }
    return true;
}

// Resets a client that sends refused bytes again and may have been answered, while more connections
// are answered than are remembered.
bool Answerer::reset_forgotten(const Packet& packet) noexcept {
    const bool resets = answered_.may_have_displaced(packet.context.now) &&
                        packet.tcp.payload != 0 && !packet.tcp.has(kTcpRst) &&
                        find_routes(packet.seen);
    if (resets) {
        end_client(packet);
    }
    return resets;
}

// Follows what the client sends from then on. Bytes that it repeats say that it lacks some of the
// answer, which is sent once more; a FIN is acknowledged; who has the whole answer and goes on
// sending gets a RST (RFC 9112, 9.6: that one earlier could cost the client the answer).
void Answerer::follow_client(const Packet& packet, AnsweredConnection& connection) noexcept {
    const TcpFacts& came = packet.tcp;
    if (came.has(kTcpRst)) {
        AnsweredConnections::remove(connection);
        count(AnswerEvent::Absorbed);
        return;
    }
    const bool repeats = came.payload != 0 && ahead(connection.received, came.seq) < 0;
    note_received(connection, came);
    const bool is_done = has_all(connection, came);
    const bool was_reset = connection.kind == AnsweredKind::Reset;
    if ((came.payload != 0 && is_done) || (was_reset && (came.payload != 0 || came.has(kTcpFin)))) {
        end_client(packet);
    } else if (!is_done && !was_reset && (repeats || lacks_a_segment(connection, came))) {
        repeat(packet, connection);
    } else if (came.has(kTcpFin) && is_done) {
        made_.add({.segment = bare_ack(connection.end, connection.received,
                                       timestamps_toward_sender(came))});
        count(AnswerEvent::FinAcknowledged);
    } else {
        count(AnswerEvent::Absorbed);
    }
}

// The same once more, as long as the rules that it is from stand.
void Answerer::repeat(const Packet& packet, AnsweredConnection& connection) noexcept {
    if (packet.context.load != connection.load || connection.repeats == kMostRepeats ||
        !may_answer(packet)) {
        packet.tcp.payload != 0 ? end_client(packet) : count(AnswerEvent::Absorbed);
        return;
    }
    ++connection.repeats;
    connection.has_acked = false;
    const ResponsePlace place{.seq = connection.begin,
                              .request = connection.request,
                              .received = connection.received,
                              .timestamps = timestamps_toward_sender(packet.tcp)};
    (void)respond(packet, place, connection);
    count(AnswerEvent::Repeated);
}

void Answerer::end_client(const Packet& packet) noexcept {
    made_.add({.segment = *reset_toward_sender(packet.tcp)});
    count(AnswerEvent::Ended);
}

// The server's RST was not exact, or has not come yet: one at the number that the server awaits is.
void Answerer::follow_server(const Packet& packet) noexcept {
    if (packet.tcp.has(kTcpRst)) {
        count(AnswerEvent::Absorbed);
        return;
    }
    const MadeSegment reset = *reset_toward_sender(packet.tcp);
    made_.add({.segment = reset});
    note_reset(packet, Toward::Source, reset.seq);
    count(AnswerEvent::ChallengeReset);
}

}  // namespace sluice
