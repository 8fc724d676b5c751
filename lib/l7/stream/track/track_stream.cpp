#include "lib/l7/stream/tick.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"

// Both directions of a connection whose numbers are known.
namespace sluice {
namespace {

// An empty segment has the number behind a FIN that may come later than it.
void note_sent(const TrackedSegment& segment, TcpHalf& sent) noexcept {
    if (segment.payload != 0 || segment.has(kTcpFin)) {
        sent.next = later_of(sent.next, segment.data_end() + (segment.has(kTcpFin) ? 1U : 0U));
    }
}

// Bytes that a server has taken it has acknowledged by then (RFC 9293, 3.8.6.3: within 500 ms).
constexpr Nanoseconds kAcknowledgedWithin = std::chrono::seconds{2};

bool refuses(DataPlace place) noexcept {
    return place == DataPlace::Beyond || place == DataPlace::Alien;
}

}  // namespace

void ConnectionTracker::follow(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (arrival.segment.has(kTcpRst)) {
        return on_reset(arrival, verdict);
    }
    if (is_inherited(lines_[arrival.index])) [[unlikely]] {
        take_if_moved_on(arrival);
    }
    const Line& line = lines_[arrival.index];
    const TrackedSegment& segment = arrival.segment;
    const TcpHalf& sent = line.half(arrival.from_client);
    const DataPlace place =
        place_of_data(sent, segment.seq, segment.data_end(), line.is_long(arrival.from_client));
    const TrackReason refusal = refusal_of(arrival, line, place);
    if (refusal != TrackReason::None) {
        return arrival.from_client && completes_alternate(segment, line) ? replace(arrival, verdict)
                                                                         : drop(verdict, refusal);
    }
    verdict.readable =
        segment.payload != 0 && (place == DataPlace::Fits || place == DataPlace::Probe);
    verdict.take_from = sent.una;
    verdict.sent = line.is(Line::kClientFin) ? line.client_bytes : sent.next;
    verdict.is_next = segment.seq == verdict.take_from;
    verdict.may_miss_some = arrival.from_client && line.is(Line::kMidstream) &&
                            arrival.policy.enforced &&
                            arrival.policy.midstream == MidstreamPolicy::Inspect;
    pass(verdict);
    apply(arrival, verdict);
}

// A refused segment may be of the handshake that waits beside this connection.
void ConnectionTracker::refuse(const Arrival& arrival, TrackReason reason,
                               TrackVerdict& verdict) noexcept {
    const Line& line = lines_[arrival.index];
    if (arrival.from_client && completes_alternate(arrival.segment, line)) {
        return replace(arrival, verdict);
    }
    is_of_alternate(arrival, line) ? pass(verdict) : drop(verdict, reason);
}

TrackReason ConnectionTracker::refusal_of(const Arrival& arrival, const Line& line,
                                          DataPlace place) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const bool client = arrival.from_client;
    // The server's word stands where the box let segments pass that it would have refused, or did
    // not see.
    const bool believed =
        !client && (line.is(TrackedConnection::kMidstream) || !arrival.policy.enforced);
    const TcpHalf& other = line.half(!client);
    switch (place_of_ack(other, segment.ack, line.widest_of(client), line.is_long(!client))) {
        case AckPlace::Unsent:
            if (!believed && !(line.is(TrackedConnection::kMidstream) &&
                               segment.ack - other.next <= kUnseenFlight)) {
                return TrackReason::AckUnsent;
            }
            break;
        case AckPlace::TooOld:
            return TrackReason::AckTooOld;
        case AckPlace::Fits:
            break;
    }
    if (const TrackReason fin = fin_refusal(arrival, line); fin != TrackReason::None) {
        return fin;
    }
    if (refuses(place) && !(believed && place == DataPlace::Beyond)) {
        return place == DataPlace::Beyond ? TrackReason::BeyondWindow : TrackReason::OutOfWindow;
    }
    // Acknowledged bytes say nothing new, whenever they were sent.
    if (client && place != DataPlace::Old && is_too_old(segment, line.echoed)) {
        return TrackReason::OldTimestamp;
    }
    return TrackReason::None;
}

TrackReason ConnectionTracker::fin_refusal(const Arrival& arrival, const Line& line) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const bool client = arrival.from_client;
    const bool has_fin = segment.has(kTcpFin);
    if (!line.is(client ? Line::kClientFin : Line::kServerFin)) {
        // The last number of a connection that was taken up may be its FIN's.
        const std::uint32_t end = segment.data_end() + (line.is(Line::kMidstream) ? 1U : 0U);
        return has_fin && is_behind(line.half(client).next, end) ? TrackReason::FinMoved
                                                                 : TrackReason::None;
    }
    const std::uint32_t fin = client ? line.client_fin : line.server_fin;
    if (segment.payload != 0 ? is_behind(segment.data_end(), fin)
                             : is_behind(segment.seq, fin + 1)) {
        return TrackReason::BehindFin;
    }
    return has_fin && segment.data_end() != fin ? TrackReason::FinMoved : TrackReason::None;
}

void ConnectionTracker::apply(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const bool client = arrival.from_client;
    Line& line = lines_[arrival.index];
    TcpHalf& sent = line.half(client);
    TcpHalf& other = line.half(!client);
    line.touched = ticks_;
    if (!client) {
        line.clear(Line::kServerUnheard);
    }
    if (!client && segment.timestamps && segment.timestamps->echo != line.echoed) {
        const std::uint32_t echo = segment.timestamps->echo;
        line.echoed = line.echoed == 0 ? echo : later_of(line.echoed, echo);
    }
    note_sent(segment, sent);
    other.una = later_of(other.una, segment.ack);
    other.next = later_of(other.next, other.una);
    other.edge = later_of(other.edge,
                          segment.ack + (std::uint32_t{segment.window} << line.scale_of(client)));
    if (!line.is_long(!client) && other.una - other.iss > kWidestWindow) [[unlikely]] {
        line.set(client ? Line::kServerLong : Line::kClientLong);
    }
    std::uint16_t& widest = client ? line.client_widest : line.server_widest;
    widest = std::max(widest, segment.window);
    if (line.only_unfinished) [[unlikely]] {
        note_sums(arrival, verdict);
    }
    if (segment.has(kTcpFin) || line.is(Line::kClientFin | Line::kServerFin)) [[unlikely]] {
        note_fins(arrival, verdict);
    }
}

// Bytes whose copies all came unfinished, and that the server acknowledges, it has taken so.
void ConnectionTracker::note_sums(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    if (arrival.from_client) {
        line.only_unfinished = arrival.segment.checksum_unfinished;
    } else if (is_behind(line.client.una, line.client.iss + 1)) {
        line.only_unfinished = false;
        verdict.client_sums_proven = true;
        verdict.proven_by = line.source;
    }
}

void ConnectionTracker::note_fins(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    if (arrival.from_client) {
        // A FIN may come ahead of bytes that have not.
        line.client_bytes = arrival.segment.payload != 0
                                ? later_of(verdict.sent, arrival.segment.data_end())
                                : verdict.sent;
    }
    if (arrival.segment.has(kTcpFin)) {
        line.set(arrival.from_client ? Line::kClientFin : Line::kServerFin);
        (arrival.from_client ? line.client_fin : line.server_fin) = arrival.segment.data_end();
    }
    const bool both = line.is(Line::kClientFin) && line.is(Line::kServerFin) &&
                      is_behind(line.client.una, line.client_fin) &&
                      is_behind(line.server.una, line.server_fin);
    if (both && !line.is(Line::kEnded)) {
        line.set(Line::kEnded);
        verdict.ended = true;
        count(TrackEvent::EndedByFin);
        move_to(arrival.index, TrackClass::Closed);
    }
}

void ConnectionTracker::on_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    const TcpHalf& sent = line.half(arrival.from_client);
    if (!arrival.from_client && segment.has(kTcpAck) && has_candidate(line) &&
        segment.ack - 1 == line.candidate) {
        // The server refuses a new connection. It says nothing of the one that stands.
        line.clear(Line::kCandidate | Line::kCandidates);
        return pass(verdict);
    }
    const ResetPlace place = place_of_reset(sent, segment.seq);
    // A client's bytes that are on their way may have moved the number that its server expects.
    const bool may_have_moved = arrival.from_client && !segment.is_made_here &&
                                sent.next != sent.una &&
                                age_of(line) < ticks_of(kAcknowledgedWithin);
    // The last number that the server sent is as good as the next expected one: segments before it
    // may be on their way to the client, whose acknowledgement then never comes.
    if ((place == ResetPlace::Exact && !may_have_moved) ||
        (!arrival.from_client && segment.seq == sent.next)) {
        pass(verdict);
        return stand_reset(arrival, verdict);
    }
    if (resets_alternate(arrival)) {
        return pass(verdict);
    }
    if (place != ResetPlace::Outside) {
        count(TrackEvent::ChallengedReset);
        return pass(verdict);
    }
    drop(verdict, TrackReason::ResetOutOfWindow);
}

void ConnectionTracker::stand_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    line.phase = TrackPhase::Reset;
    line.touched = ticks_;
    if (!arrival.from_client) {
        line.set(Line::kServerReset);
    }
    if (!line.is(Line::kEnded)) {
        verdict.ended = true;
        count(TrackEvent::EndedByReset);
    }
    move_to(arrival.index, TrackClass::Closed);
}

// The client's side is over. What the server still sends is answered by the client with the RST
// that may have been lost; what the client still sends would be answered by the server with its
// own. The former passes, the latter may be answered here, so that nothing is read any more.
void ConnectionTracker::behind_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const Line& line = lines_[arrival.index];
    if (segment.has(kTcpRst)) {
        return repeated_reset(arrival, verdict);
    }
    if (arrival.from_client && completes_alternate(segment, line)) {
        return replace(arrival, verdict);
    }
    const DataPlace place = place_of_data(line.half(arrival.from_client), segment.seq,
                                          segment.data_end(), line.is_long(arrival.from_client));
    const bool fits = refusal_of(arrival, line, place) == TrackReason::None;
    const bool server_is_gone = line.phase == TrackPhase::BoxReset || line.is(Line::kServerReset);
    if (arrival.from_client || line.phase == TrackPhase::BoxReset) {
        drop(verdict, TrackReason::BehindReset);
        if (fits && server_is_gone) {
            verdict.kind = TrackVerdict::Kind::Reset;
        }
        return;
    }
    if (!fits || (server_is_gone && is_behind(segment.data_end(), line.server.next))) {
        return refuse(arrival, TrackReason::BehindReset, verdict);
    }
    if (!server_is_gone && line.id != 0 && is_behind(segment.ack, line.client.una)) {
        return revive(arrival, verdict);
    }
    pass(verdict);
}

void ConnectionTracker::repeated_reset(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const Line& line = lines_[arrival.index];
    const TcpHalf& sent = line.half(arrival.from_client);
    const bool fits = place_of_reset(sent, arrival.segment.seq) != ResetPlace::Outside ||
                      arrival.segment.seq == sent.next;
    const bool refuses_new = !arrival.from_client && arrival.segment.has(kTcpAck) &&
                             has_candidate(line) && arrival.segment.ack - 1 == line.candidate;
    fits || refuses_new || resets_alternate(arrival) ? pass(verdict)
                                                     : drop(verdict, TrackReason::ResetOutOfWindow);
}

// The server acknowledges more than the number of the client's RST, so that number was not the one
// it expected, and it went on. Its client has given the connection up, and whoever counts what is
// open has let it go: it ends for the server too, at the number that it says.
void ConnectionTracker::revive(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    count(TrackEvent::Revived);
    if (arrival.policy.enforced) {
        line.phase = TrackPhase::BoxReset;
        drop(verdict, TrackReason::BehindReset);
        verdict.kind = TrackVerdict::Kind::Reset;
        verdict.ends_revived = true;
        return;
    }
    line.phase = TrackPhase::Established;
    if (!line.is(Line::kEnded)) {
        verdict.began = true;
        // A closed connection has a place among the established.
        move_to(arrival.index, TrackClass::Established);
    }
    follow(arrival, verdict);
}

}  // namespace sluice
