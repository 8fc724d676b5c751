#include "lib/respond/answer/served_traffic.hpp"

namespace sluice {
namespace {

ByteView segment_bytes(const AnsweredPacket& packet) noexcept {
    const ByteView frame = packet.frame.bytes;
    return frame.subspan(packet.headers.payload_at);
}

}  // namespace

bool ServedTraffic::forwarded(const BothWays& ways, const AnsweredPacket& packet,
                              const TcpFacts& facts, Instant now) noexcept {
    agreement_ = Agreement::None;
    if (facts.has(kTcpSyn)) {
        return facts.has(kTcpAck) && accept(ways, facts.end(), now);
    }
    ServedConnection* const client = connections_.find(ways.along);
    if (client != nullptr && facts.has(kTcpAck) && client->fits(facts.seq, facts.ack)) {
        follow_client(*client, packet, facts, now);
        return false;
    }
    if (client != nullptr) {
        return false;
    }
    if (ServedConnection* const server = connections_.find(ways.against)) {
        follow_server(*server, packet, facts, now);
    } else {
        meet_stranger(ways, packet, facts, now);
    }
    return false;
}

// A SYN-ACK. One that comes again changes nothing.
bool ServedTraffic::accept(const BothWays& ways, std::uint32_t number, Instant now) noexcept {
    const std::uint32_t seconds = seconds_of(now);
    post_sent(sent_, ways.along, number, seconds);
    post_sent(here_, ways.along, number, seconds);
    ServedConnection* const known = connections_.find(ways.against);
    const bool is_same =
        known != nullptr && known->answers.sent() - number <= std::uint32_t{kServerInFlight};
    if (known != nullptr && !is_same) {
        ServedConnections::remove(*known);
    }
    return !is_same;
}

void ServedTraffic::follow_client(ServedConnection& connection, const AnsweredPacket& packet,
                                  const TcpFacts& facts, Instant now) noexcept {
    ServedConnections::touch(connection, now);
    connection.answers.acknowledge(facts.ack);
    for (AskedRequests rest = packet.requests; !rest.empty(); rest.pop()) {
        connection.answers.expect(rest.front());
    }
    if (packet.asks_more) {
        connection.answers.lose();
    }
}

// A RST in the place of the next byte ends it (RFC 5961); any other says nothing here.
void ServedTraffic::follow_server(ServedConnection& connection, const AnsweredPacket& packet,
                                  const TcpFacts& facts, Instant now) noexcept {
    if (facts.has(kTcpRst)) {
        if (facts.seq == connection.answers.sent()) {
            ServedConnections::remove(connection);
        }
        return;
    }
    const auto ahead = static_cast<std::int32_t>(facts.seq - connection.answers.next());
    if (ahead < -kClientInFlight || ahead > kClientInFlight) {
        return;
    }
    ServedConnections::touch(connection, now);
    if (facts.has(kTcpAck) && static_cast<std::int32_t>(facts.ack - connection.received) > 0) {
        connection.received = facts.ack;
    }
    const ByteView bytes = segment_bytes(packet);
    const bool is_whole = bytes.size() >= facts.payload;
    const bool was_tunnel = connection.answers.is_tunnel();
    connection.answers.feed(facts.seq, is_whole ? bytes.first(facts.payload) : bytes,
                            is_whole && facts.has(kTcpFin));
    if (!was_tunnel && connection.answers.is_tunnel()) {
        agreement_ = connection.answers.is_upgraded()  ? Agreement::Passed
                     : connection.answers.is_connect() ? Agreement::None
                                                       : Agreement::Unlisted;
    }
}

// The first request of a connection whose handshake came to this worker makes it known: until then
// its server has nothing to answer. What the server of an unknown one pushes proves its client
// later.
void ServedTraffic::meet_stranger(const BothWays& ways, const AnsweredPacket& packet,
                                  const TcpFacts& facts, Instant now) noexcept {
    const std::uint32_t seconds = seconds_of(now);
    const bool asks = !packet.requests.empty() && facts.has(kTcpAck);
    if (asks && was_sent(here_, ways.against, facts.ack, seconds)) {
        ServedConnection& connection = connections_.add(ways.along, now);
        connections_.note_ports(packet.headers.sport, packet.headers.dport);
        connection.received = facts.seq;
        connection.answers.begin(facts.ack);
        follow_client(connection, packet, facts, now);
        return;
    }
    if (pushes_out(packet.headers.dir, facts.flags) && !facts.has(kTcpRst)) {
        post_sent(sent_, ways.along, facts.end(), seconds);
    }
}

AnswerStanding ServedTraffic::acknowledge(const BothWays& ways, std::uint32_t seq,
                                          std::uint32_t ack, Instant now) noexcept {
    ServedConnection* const connection = connections_.find(ways.along);
    if (connection != nullptr && connection->fits(seq, ack)) {
        connection->answers.acknowledge(ack);
    }
    return standing(ways, seq, ack, now);
}

AnswerStanding ServedTraffic::standing_of(const AnsweredPacket& packet, const BothWays& ways,
                                          const SegmentNumbers& came, Instant now) const noexcept {
    const bool is_open =
        packet.handshake == Handshake::Open || packet.handshake == Handshake::OneWay;
    if (is_open || !came.has(kTcpAck) || came.has(kTcpSyn)) {
        return AnswerStanding::Unproven;
    }
    const AnswerStanding found = standing(ways, came.seq, came.ack, now);
    return found == AnswerStanding::Unproven && packet.handshake == Handshake::Completed
               ? AnswerStanding::Unframed
               : found;
}

AnswerStanding ServedTraffic::standing(const BothWays& ways, std::uint32_t seq, std::uint32_t ack,
                                       Instant now) const noexcept {
    const std::uint32_t seconds = seconds_of(now);
    const ServedConnection* const connection = connections_.find(ways.along);
    if (connection == nullptr) {
        // A segment that completes its handshake has had no answer before it.
        if (was_sent(here_, ways.against, ack, seconds)) {
            return AnswerStanding::Next;
        }
        return was_sent(sent_, ways.against, ack, seconds) ? AnswerStanding::Unframed
                                                           : AnswerStanding::Unproven;
    }
    if (!connection->fits(seq, ack)) {
        return AnswerStanding::Unproven;
    }
    const ResponseStream& answers = connection->answers;
    switch (answers.state()) {
        case ResponseStream::State::Idle:
            return ack == answers.next() ? AnswerStanding::Next : AnswerStanding::UnderWay;
        case ResponseStream::State::UnderWay:
            return AnswerStanding::UnderWay;
        case ResponseStream::State::Closed:
            return ack == answers.next() ? AnswerStanding::Ended : AnswerStanding::UnderWay;
        default:
            return AnswerStanding::Ended;
    }
}

}  // namespace sluice
