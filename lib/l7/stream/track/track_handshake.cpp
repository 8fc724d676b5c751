#include "lib/l7/stream/tick.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"

// A handshake is the server's word: a SYN only makes a number that its SYN-ACK may acknowledge, and
// that SYN-ACK begins the connection, whatever stood on these ports before. Who sends SYNs that the
// server answers otherwise changes nothing.
//
// Servers with SYN cookies answer every SYN, so several handshakes may be under way on the same
// ports: the client's acknowledgement says which one is its own. Two of them are kept.
namespace sluice {
namespace {

constexpr std::uint16_t kFullWindow = 0xFFFF;

}  // namespace

void ConnectionTracker::on_syn(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (!arrival.from_client) {
        return drop(verdict, TrackReason::SplitHandshake);
    }
    if (arrival.segment.payload != 0) {
        return drop(verdict, TrackReason::SynData);
    }
    count(TrackEvent::SynSeen);
    pass(verdict);
    ConnectionIndex index = arrival.index;
    if (index == kNoConnection) {
        index = open(arrival.segment, TrackClass::HalfOpen);
        if (index == kNoConnection) {
            // Copies of the SYN are as forgotten as those of a line that made room.
            evicted_ticks_ = ticks_;
            has_evicted_ = true;
            return count(TrackEvent::HalfOpenFull);
        }
    }
    Line& line = lines_[index];
    if (!line.has_numbers()) {
        arrival.policy.inbound_only ? line.set(Line::kOneWay) : line.clear(Line::kOneWay);
    }
    if (line.phase == TrackPhase::Established) {
        count(TrackEvent::SynOnLiving);
    } else if (line.phase == TrackPhase::SynSent) {
        line.touched = ticks_;
    }
    note_candidate(arrival.segment, line);
}

void ConnectionTracker::note_candidate(const TrackedSegment& segment, Line& line) noexcept {
    const bool waits = has_candidate(line);
    const bool repeats = waits && line.candidate == segment.seq;
    // A copy that its server may not take.
    if (repeats && segment.checksum_unfinished && !line.candidate_unfinished) {
        return;
    }
    line.candidate_unfinished = segment.checksum_unfinished;
    if (!waits) {
        line.clear(Line::kCandidates);
    } else if (line.candidate != segment.seq) {
        line.set(Line::kCandidates);
    }
    line.candidate_window =
        repeats ? std::max(line.candidate_window, segment.window) : segment.window;
    line.candidate = segment.seq;
    line.candidate_at = ticks_;
    line.candidate_scale = segment.scale ? std::min(*segment.scale, kMostScale) : Line::kNoScale;
    line.set(Line::kCandidate);
}

// A server has answered a SYN that came unfinished, and no other one that it may have meant: of all
// SYNs within the time that servers repeat SYN-ACKs the line knows.
bool ConnectionTracker::took_unfinished(const TrackedSegment& syn_ack,
                                        const Line& line) const noexcept {
    const auto is_past = [this](std::uint32_t ticks) {
        return ticks_ - ticks > ticks_of(budget_.half_open_timeout);
    };
    return line.candidate_unfinished && has_candidate(line) && !line.is(Line::kCandidates) &&
           syn_ack.ack - 1 == line.candidate && (!has_evicted_ || is_past(evicted_ticks_)) &&
           (!has_unseen_ || is_past(unseen_ticks_));
}

bool ConnectionTracker::takes_unfinished(std::uint64_t ends) const noexcept {
    const ConnectionIndex index = lines_.may_have(ends) ? lines_.find(ends) : kNoConnection;
    if (index == kNoConnection || !lines_[index].has_numbers()) {
        return false;
    }
    const Line& line = lines_[index];
    return line.takes_unfinished || (line.is(Line::kAlternate) && line.alternate.takes_unfinished);
}

bool ConnectionTracker::has_candidate(const Line& line) const noexcept {
    return line.is(Line::kCandidate) &&
           ticks_ - line.candidate_at <= ticks_of(budget_.half_open_timeout);
}

void ConnectionTracker::on_syn_ack(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (arrival.from_client) {
        return drop(verdict, TrackReason::SplitHandshake);
    }
    Line& line = lines_[arrival.index];
    if (line.is(Line::kOneWay) && arrival.policy.inbound_only) {
        return pass(verdict);
    }
    const FirstNumbers numbers{arrival.segment.ack - 1, arrival.segment.seq};
    const bool repeats = (line.has_numbers() && numbers == line.first_numbers()) ||
                         (line.is(Line::kAlternate) && numbers == line.alternate.numbers);
    if (repeats) {
        // The server waits for the client for as long as it repeats it, and once as long again.
        line.touched = line.phase == TrackPhase::SynReceived ? ticks_ : line.touched;
        return pass(verdict);
    }
    // SYNs with other numbers may have come in between: the server may have taken any of them.
    if (has_candidate(line) && (numbers.client == line.candidate || line.is(Line::kCandidates))) {
        return accept_syn_ack(arrival, verdict);
    }
    // A copy of the SYN that arrived when its connection was over.
    const bool is_over = line.phase == TrackPhase::Reset || line.is(Line::kEnded);
    if (is_over && numbers.client == line.client.iss) {
        return accept_syn_ack(arrival, verdict);
    }
    drop(verdict, TrackReason::SynAckUnasked);
}

TrackedHandshake ConnectionTracker::handshake_of(const TrackedSegment& syn_ack,
                                                 const Line& line) const noexcept {
    const bool known = has_candidate(line) && syn_ack.ack - 1 == line.candidate;
    const std::uint8_t client_scale = known ? line.candidate_scale : kMostScale;
    const bool scales = syn_ack.scale.has_value() && client_scale != Line::kNoScale;
    TrackedHandshake handshake{.numbers = {syn_ack.ack - 1, syn_ack.seq},
                               .client_window = known ? line.candidate_window : kFullWindow,
                               .server_window = syn_ack.window,
                               .takes_unfinished = took_unfinished(syn_ack, line),
                               .echoed = syn_ack.timestamps ? syn_ack.timestamps->echo : 0};
    if (scales) {
        handshake.client_scale = client_scale & 0xF;
        handshake.server_scale = std::min(*syn_ack.scale, kMostScale) & 0xF;
    }
    return handshake;
}

// Beside a connection that stands, or has ended, a handshake waits for the client to complete it: a
// copy of an old SYN-ACK ends nothing.
void ConnectionTracker::accept_syn_ack(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    const TrackedHandshake handshake = handshake_of(arrival.segment, line);
    pass(verdict);
    line.syn_ack_unfinished = arrival.segment.checksum_unfinished;
    if (line.has_numbers() && line.phase != TrackPhase::SynReceived) {
        // A copy of an old SYN-ACK takes no place of one that answers the last SYN.
        const auto answers_last = [&line](const TrackedHandshake& one) {
            return one.numbers.client == line.candidate;
        };
        if (!line.is(Line::kAlternate) || answers_last(handshake) ||
            !answers_last(line.alternate)) {
            line.alternate = handshake;
            line.set(Line::kAlternate);
        }
        return relist(arrival.index);
    }
    std::uint16_t kept = Line::kClientLow | Line::kCandidate | Line::kCandidates;
    if (line.phase == TrackPhase::SynReceived) {
        if (line.is(Line::kAlternate)) {
            line.set(Line::kAlternates);
        }
        line.alternate = standing_handshake(line);
        line.set(Line::kAlternate);
        kept |= Line::kAlternate | Line::kAlternates;
    }
    line.flags &= kept;
    install(handshake, line);
    line.server.next = arrival.segment.data_end();
    line.id = 0;
    line.phase = TrackPhase::SynReceived;
    line.touched = ticks_;
    move_to(arrival.index, TrackClass::HalfOpen);
}

void ConnectionTracker::install(const TrackedHandshake& handshake, Line& line) noexcept {
    line.client = handshake.client();
    line.server = handshake.server();
    line.client_scale = handshake.client_scale;
    line.server_scale = handshake.server_scale;
    line.client_widest = handshake.client_window;
    line.server_widest = handshake.server_window;
    line.echoed = handshake.echoed;
    line.takes_unfinished = line.only_unfinished = handshake.takes_unfinished;
}

// A handshake under way, whose windows have not moved.
TrackedHandshake ConnectionTracker::standing_handshake(const Line& line) noexcept {
    TrackedHandshake handshake{.numbers = line.first_numbers(),
                               .client_window = line.client_widest,
                               .server_window = line.server_widest,
                               .takes_unfinished = line.takes_unfinished,
                               .echoed = line.echoed};
    handshake.client_scale = line.client_scale;
    handshake.server_scale = line.server_scale;
    return handshake;
}

// A SYN has come, and no answer. Segments of other numbers may belong to a connection that was
// forgotten, and whose server will challenge the SYN.
void ConnectionTracker::on_syn_sent(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    if (arrival.from_client) {
        return on_midstream(arrival, verdict);
    }
    const Line& line = lines_[arrival.index];
    const bool answers =
        segment.has(kTcpAck) && has_candidate(line) && segment.ack - 1 == line.candidate;
    if (segment.has(kTcpRst)) {
        if (answers && !line.is(Line::kCandidates)) {
            remove(arrival.index);
        }
        return pass(verdict);
    }
    answers ? drop(verdict, TrackReason::SplitHandshake) : pass(verdict);
}

void ConnectionTracker::on_syn_received(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    if (segment.has(kTcpRst)) {
        return reset_handshake(arrival, verdict);
    }
    if (!arrival.from_client) {
        return follow(arrival, verdict);
    }
    if (completes(segment, line.client, line.server)) {
        return is_too_old(segment, line.echoed) ? drop(verdict, TrackReason::OldTimestamp)
                                                : establish(arrival, verdict);
    }
    if (completes_alternate(segment, line)) {
        install(line.alternate, line);
        return establish(arrival, verdict);
    }
    if (line.is(Line::kAlternates)) {
        return on_midstream(arrival, verdict);
    }
    // A segment of a connection before: the server answers it with a RST (RFC 9293, 3.10.7.4), and
    // so may the box, where the segment has bytes that somebody might read.
    if (segment.payload == 0) {
        return pass(verdict);
    }
    drop(verdict, TrackReason::NotSynchronised);
    verdict.kind = TrackVerdict::Kind::Reset;
}

bool ConnectionTracker::completes(const TrackedSegment& segment, const TcpHalf& sent,
                                  const TcpHalf& other) noexcept {
    const DataPlace place = place_of_data(sent, segment.seq, segment.data_end(), false);
    return place_of_ack(other, segment.ack, 0, false) == AckPlace::Fits &&
           place != DataPlace::Alien && place != DataPlace::Beyond;
}

bool ConnectionTracker::completes_alternate(const TrackedSegment& segment,
                                            const Line& line) noexcept {
    return line.is(Line::kAlternate) && segment.has(kTcpAck) && !segment.has(kTcpRst) &&
           !is_too_old(segment, line.alternate.echoed) &&
           completes(segment, line.alternate.client(), line.alternate.server());
}

// The server speaks in a handshake that waits, without bytes: it challenges a segment.
bool ConnectionTracker::is_of_alternate(const Arrival& arrival, const Line& line) noexcept {
    const TrackedSegment& segment = arrival.segment;
    return !arrival.from_client && line.is(Line::kAlternate) && segment.payload == 0 &&
           completes(segment, line.alternate.server(), line.alternate.client());
}

// The client completes a handshake beside the connection that stands: the server has forgotten it.
void ConnectionTracker::replace(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    const bool stood = line.phase == TrackPhase::Established && !line.is(Line::kEnded);
    verdict.replaced = stood ? line.id : 0;
    if (stood) {
        count(TrackEvent::Replaced);
    }
    line.flags &= Line::kClientLow;
    install(line.alternate, line);
    establish(arrival, verdict);
}

// A RST of the handshake that waits beside another one, or beside a connection: its place is its
// own. True: it concerns that handshake.
bool ConnectionTracker::resets_alternate(const Arrival& arrival) noexcept {
    Line& line = lines_[arrival.index];
    if (!line.is(Line::kAlternate)) {
        return false;
    }
    const TcpHalf half = arrival.from_client ? line.alternate.client() : line.alternate.server();
    const ResetPlace place = place_of_reset(half, arrival.segment.seq);
    if (place == ResetPlace::Exact) {
        line.clear(Line::kAlternate);
    }
    return place != ResetPlace::Outside;
}

void ConnectionTracker::reset_handshake(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    const bool client = arrival.from_client;
    const bool of_this = segment.seq == line.half(client).una;
    if (of_this && line.is(Line::kAlternate)) {
        install(line.alternate, line);
        line.clear(Line::kAlternate);
        return pass(verdict);
    }
    if (resets_alternate(arrival)) {
        return pass(verdict);
    }
    // The server's answer to a segment of a connection before; its receiver knows the number.
    if (!client && segment.seq != line.server.una) {
        return pass(verdict);
    }
    on_reset(arrival, verdict);
}

void ConnectionTracker::establish(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (!begin(arrival.index, TrackEvent::Began)) {
        become_midstream(arrival.index);
        return on_midstream(arrival, verdict);
    }
    verdict.began = true;
    verdict.server_sums_proven = lines_[arrival.index].syn_ack_unfinished;
    follow(arrival, verdict);
}

// False: there is no room for it.
bool ConnectionTracker::begin(ConnectionIndex index, TrackEvent event) noexcept {
    Line& line = lines_[index];
    if (line.listed != TrackClass::Established) {
        // A closed connection has a place among the established: nothing goes for it, itself least.
        const bool has_place = line.listed == TrackClass::Closed;
        if (!has_place && !make_room(TrackClass::Established, line.source)) {
            count(TrackEvent::TrackerFull);
            return false;
        }
        move_to(index, TrackClass::Established);
    }
    line.phase = TrackPhase::Established;
    line.clear(Line::kCandidate | Line::kCandidates | Line::kAlternate | Line::kAlternates);
    line.touched = ticks_;
    line.id = id_of(line);
    count(event);
    return true;
}

}  // namespace sluice
