#include "lib/respond/act/answerer_packet.hpp"

#include <algorithm>

// Refusals that wait for an answer of the server to end:
//
//   client                          box                           server
//   seq=S        request    ----->  |                                      refused, dropped
//                           <-----  | <-----------------------------  the answer before it goes on
//   ACK of a part           ----->  | ----------------------------->
//   seq=S        request    ----->  |                                      again: dropped
//   ACK of all of it        ----->  |
//                           <-----  | response, FIN
//                                   | RST seq=S                   ----->
//
// One waits for each connection, since nothing behind it is forwarded. There is no timer: whatever
// comes of the connection finds it overdue, and a connection of which nothing comes hurts nobody.
namespace sluice {
void Answerer::wait(const Packet& packet, AnsweredConnection& connection) noexcept {
    const Instant now = packet.context.now;
    connection.begin_wait(packet.tcp.ack, now);
    answered_.note_wait(now);
    count(AnswerEvent::Waiting);
}

// A segment of its client. False: it goes on as it was decided.
bool Answerer::follow_waiting(const Packet& packet, AnsweredConnection& connection,
                              Decision& decision) noexcept {
    const TcpFacts& came = packet.tcp;
    const Instant now = packet.context.now;
    const BothWays ways{packet.seen.headers, packet.context.hash};
    ServedTraffic& served = answered_.served();
    const bool is_placed = came.has(kTcpAck) && !came.has(kTcpRst);
    const AnswerStanding standing =
        is_placed ? served.acknowledge(ways, came.seq, came.ack, now) : AnswerStanding::Unproven;
    if (standing != AnswerStanding::Unproven) {
        connection.note_progress(came.ack, now);
    }
    const bool is_next = standing == AnswerStanding::Next;
    const bool ends = standing == AnswerStanding::Ended || connection.is_overdue(now);
    if (!is_next && !ends && !came.numbers().reaches(connection.request)) {
        return false;
    }
    decision = dropped_for(Reason::Answered);
    if ((!is_next && !ends) || came.has(kTcpRst) || !find_routes(packet.seen)) {
        count(AnswerEvent::Absorbed);
    } else if (is_next && packet.context.load == connection.load) {
        answer_at_last(packet, connection);
    } else {
        give_up(packet, connection);
    }
    return true;
}

// A segment of the server whose answer is waited for. False: it goes on as it was decided. One that
// cannot be read where it is, behind a gap, comes again behind what is lacking: the client is not
// to have what nobody has read the end in.
bool Answerer::follow_waited_for(const Packet& packet, Decision& decision) noexcept {
    const AnswerContext& context = packet.context;
    AnsweredConnection* const connection =
        answered_.waiting_behind(connection_ends(packet.seen.headers, context.hash), context.now);
    if (connection == nullptr || packet.tcp.has(kTcpRst)) {
        return false;
    }
    if (connection->is_overdue(context.now) && find_routes(packet.seen)) {
        decision = dropped_for(Reason::Answered);
        end_overdue(packet, *connection);
        return true;
    }
    const BothWays ways{packet.seen.headers, context.hash};
    if (packet.tcp.end() == packet.tcp.seq || answered_.served().can_read(ways, packet.tcp.seq)) {
        return false;
    }
    decision = dropped_for(Reason::Answered);
    count(AnswerEvent::Absorbed);
    return true;
}

void Answerer::end_overdue(const Packet& packet, AnsweredConnection& connection) noexcept {
    made_.add({.side = Toward::Source, .segment = *reset_toward_sender(packet.tcp)});
    if (const auto on = reset_toward_receiver(packet.tcp, connection.acked)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    AnsweredConnections::remove(connection);
    count(AnswerEvent::Unanswered);
}

// The client has all that came before: the refusal stands behind it. The time that has passed
// meanwhile needs no waiting any more.
void Answerer::answer_at_last(const Packet& packet, AnsweredConnection& connection) noexcept {
    const TcpFacts& came = packet.tcp;
    const Nanoseconds passed = connection.waited(packet.context.now);
    connection.waits = false;
    connection.wait = std::max(connection.wait - passed, Nanoseconds{0});
    connection.begin = came.ack;
    connection.has_acked = false;
    connection.date = static_cast<std::uint16_t>(utc_of(packet.context));
    const ResponsePlace place{.seq = came.ack,
                              .request = connection.request,
                              .received = connection.received,
                              .timestamps = timestamps_toward_sender(came)};
    connection.end = response_end(place, respond(packet, place, connection));
    if (const auto on = reset_toward_receiver(came, connection.request)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    begin_server(packet, connection.request);
    answered_.note_begun();
    const Action& action = packet.context.actions[connection.action];
    count(action.verdict == Verdict::Decoy ? AnswerEvent::Decoyed : AnswerEvent::Replied);
}

// The server is reset, and the client too if it has not had the server's FIN: what it has not
// read yet would be lost with it. What either goes on with is reset.
void Answerer::give_up(const Packet& packet, AnsweredConnection& connection) noexcept {
    const TcpFacts& came = packet.tcp;
    connection.waits = false;
    connection.kind = AnsweredKind::Reset;
    if (connection.is_overdue(packet.context.now)) {
        made_.add({.side = Toward::Source, .segment = *reset_toward_sender(came)});
    }
    if (const auto on = reset_toward_receiver(came, connection.request)) {
        made_.add({.side = Toward::Destination, .segment = *on});
    }
    connection.begin = came.ack;
    connection.end = came.ack;
    begin_server(packet, connection.request);
    answered_.note_begun();
    count(AnswerEvent::Unanswered);
}

void Answerer::note_forwarded(const AnsweredPacket& packet, const AnswerContext& context) noexcept {
    const auto facts = read_tcp_facts(packet.headers, packet.frame.bytes);
    if (!facts) {
        return;
    }
    const BothWays ways{packet.headers, context.hash};
    const bool begins = answered_.served().forwarded(ways, packet, *facts, context.now);
    const ServedTraffic::Agreement agreement = answered_.served().agreement();
    if (agreement != ServedTraffic::Agreement::None && packet.connection != 0) {
        answered_.note_upgrade({.ends = connection_ends(packet.headers, context.hash),
                                .connection = packet.connection,
                                .is_passed = agreement == ServedTraffic::Agreement::Passed});
    }
    if (begins && answered_.may_have_waiting(context.now)) {
        answered_.end_wait(ways.against, context.now);
    }
}

}  // namespace sluice
