#include "lib/l7/stream/track/connection_tracker.hpp"

// Connections whose beginning was not seen, or was forgotten. Nothing that a client's segment says
// is kept: a line remembers what the server's segments say, so that a segment of the very numbers
// that the server uses can be told from one that somebody made up. Such a connection is taken up,
// or, where its bytes begin no request, reset.
namespace sluice {
namespace {

// The distance that a client's numbers may be from the server's while both are in flight.
constexpr std::uint32_t kFlight = 0xFFFF;
// The bytes of the server that its client may not have acknowledged yet, where the client's own
// number is exact.
constexpr std::uint32_t kUnseenAcks = std::uint32_t{1} << 22;
// Scales were agreed upon unseen.
constexpr std::uint32_t kWidestUnknown = std::uint32_t{1} << 24;

std::uint32_t window_of(std::uint16_t window) noexcept {
    return std::min(std::uint32_t{window} << kMostScale, kWidestUnknown);
}

}  // namespace

void ConnectionTracker::on_midstream(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (!arrival.from_client) {
        return on_midstream_server(arrival, verdict);
    }
    count(TrackEvent::Midstream);
    const TrackedSegment& segment = arrival.segment;
    if (segment.payload == 0 || segment.has(kTcpRst)) {
        return pass(verdict);
    }
    if (arrival.index == kNoConnection) {
        const ConnectionIndex index = open(segment, TrackClass::Midstream);
        if (index != kNoConnection) {
            lines_[index].phase = TrackPhase::Midstream;
        }
    } else if (lines_[arrival.index].phase == TrackPhase::SynSent &&
               !lines_[arrival.index].is(Line::kOneWay)) {
        lines_[arrival.index].phase = TrackPhase::Midstream;
        move_to(arrival.index, TrackClass::Midstream);
    }
    const Arrival opened{segment, arrival.policy, lines_.find(segment.ends), true};
    if (arrival.policy.midstream == MidstreamPolicy::Inspect &&
        (reads_in_order(opened) || now_ >= arrival.policy.grace_until)) {
        verdict.kind = TrackVerdict::Kind::Inspect;
        verdict.readable = true;
        verdict.take_from = segment.seq;
        return;
    }
    settle(opened, ClientBytes::BeginNone, verdict);
}

void ConnectionTracker::on_midstream_server(const Arrival& arrival,
                                            TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    pass(verdict);
    if (segment.has(kTcpRst) || !segment.has(kTcpAck)) {
        return;
    }
    const std::uint32_t end = segment.data_end() + (segment.has(kTcpFin) ? 1U : 0U);
    const std::uint32_t window = line.is(Line::kBeginningSeen)
                                     ? std::uint32_t{segment.window} << line.server_scale
                                     : window_of(segment.window);
    const std::uint32_t edge = segment.ack + window;
    if (!line.is(Line::kServerKnown)) {
        line.set(Line::kServerKnown);
        line.client = {.iss = 0, .next = segment.ack, .una = segment.ack, .edge = edge};
        line.server = {.iss = 0, .next = end, .una = end, .edge = end};
    }
    line.client.una = later_of(line.client.una, segment.ack);
    line.client.next = later_of(line.client.next, segment.ack);
    line.client.edge = later_of(line.client.edge, edge);
    line.server.next = later_of(line.server.next, end);
    line.touched = ticks_;
}

void ConnectionTracker::settle(const Arrival& arrival, ClientBytes bytes,
                               TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const TrackPolicy& policy = arrival.policy;
    if (reads_in_order(arrival) && (policy.midstream == MidstreamPolicy::Inspect ||
                                    is_evicted(arrival) || has_begun_unroomed(arrival))) {
        return settle_ordered(arrival, bytes, verdict);
    }
    const Line* line = arrival.index == kNoConnection ? nullptr : &lines_[arrival.index];
    const bool server_is_known =
        line != nullptr && line->phase == TrackPhase::Midstream && line->is(Line::kServerKnown);
    const bool passes = policy.midstream == MidstreamPolicy::Pass ||
                        (policy.midstream == MidstreamPolicy::Inspect &&
                         (bytes != ClientBytes::BeginNone || now_ < policy.grace_until));
    if (!passes) {
        return refuse_midstream(arrival, verdict);
    }
    pass(verdict);
    verdict.readable = true;
    verdict.take_from = segment.seq;
    verdict.sent = segment.seq;
    if (server_is_known && knows_numbers(segment, *line)) {
        take_up(arrival, verdict);
    }
}

// Both directions come by, and what is dropped stays away.
bool ConnectionTracker::reads_in_order(const Arrival& arrival) noexcept {
    return arrival.policy.enforced && !arrival.policy.inbound_only;
}

// True if the handshake was seen, and there was no room for it.
bool ConnectionTracker::has_begun_unroomed(const Arrival& arrival) const noexcept {
    return arrival.index != kNoConnection && lines_[arrival.index].phase == TrackPhase::Midstream &&
           lines_[arrival.index].is(Line::kBeginningSeen);
}

// An evicted connection is known until it is silent for as long as connections are kept.
bool ConnectionTracker::is_evicted(const Arrival& arrival) noexcept {
    return evicted_of_most_.may_have_any(ticks_) && !has_begun_unroomed(arrival) &&
           evicted_of_most_.meets(arrival.segment.ends, ticks_);
}

// True if the server has not acknowledged a byte.
bool ConnectionTracker::is_at_beginning(const Line& line) noexcept {
    return line.is(Line::kBeginningSeen) && line.client.una == line.client.iss + 1;
}

// Bytes are read in the order of what the server acknowledges: those ahead of it come again once it
// has those before them. Who knows no number reaches nobody's reader, and is charged to nobody.
void ConnectionTracker::settle_ordered(const Arrival& arrival, ClientBytes bytes,
                                       TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const Line* line = arrival.index == kNoConnection ? nullptr : &lines_[arrival.index];
    const bool server_is_known =
        line != nullptr && line->phase == TrackPhase::Midstream && line->is(Line::kServerKnown);
    const bool has_begun = has_begun_unroomed(arrival);
    const bool was_evicted = is_evicted(arrival);
    const bool may_pass = may_go_on(arrival, bytes) && !was_evicted;
    if (!server_is_known) {
        verdict.is_probe = may_pass || was_evicted;
        return verdict.is_probe ? pass(verdict) : drop(verdict, TrackReason::Midstream);
    }
    const std::uint32_t una = line->client.una;
    if (!is_behind(segment.data_end(), una)) {
        return pass(verdict);
    }
    const bool is_next = !is_behind(segment.seq, una) && segment.has(kTcpAck) &&
                         line->server.next - segment.ack <= kUnseenAcks;
    const bool is_whole = bytes != ClientBytes::BeginHalf || has_begun;
    if (!is_next || !may_pass || !is_whole) {
        return refuse_midstream(arrival, verdict);
    }
    pass(verdict);
    verdict.readable = true;
    verdict.take_from = una;
    verdict.sent = una;
    verdict.may_miss_some = !has_begun;
    has_begun ? find_room(arrival, verdict) : take_up(arrival, verdict);
}

// Bytes at the very number that the server expects: the first ones of a connection are its
// reader's to judge, whatever they are.
bool ConnectionTracker::may_go_on(const Arrival& arrival, ClientBytes bytes) const noexcept {
    switch (arrival.policy.midstream) {
        case MidstreamPolicy::Pass:
            return true;
        case MidstreamPolicy::Inspect:
            return bytes != ClientBytes::BeginNone || now_ < arrival.policy.grace_until ||
                   (has_begun_unroomed(arrival) && is_at_beginning(lines_[arrival.index]));
        case MidstreamPolicy::Reset:
            return has_begun_unroomed(arrival) && is_at_beginning(lines_[arrival.index]);
    }
    return false;
}

void ConnectionTracker::refuse_midstream(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    const Line* line = arrival.index == kNoConnection ? nullptr : &lines_[arrival.index];
    const bool server_is_known =
        line != nullptr && line->phase == TrackPhase::Midstream && line->is(Line::kServerKnown);
    if (server_is_known && segment.seq == line->client.una && knows_numbers(segment, *line)) {
        drop(verdict, TrackReason::MidstreamReset);
        verdict.kind = TrackVerdict::Kind::Reset;
        return;
    }
    drop(verdict, TrackReason::Midstream);
}

bool ConnectionTracker::knows_numbers(const TrackedSegment& segment, const Line& line) noexcept {
    return segment.has(kTcpAck) && segment.seq - line.client.una + kFlight <= 2 * kFlight &&
           line.server.next - segment.ack <= kFlight;
}

// There may be room by now for a connection that found none: it goes on with its own first numbers.
void ConnectionTracker::find_room(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    const std::uint16_t flags = line.flags;
    line.flags &= Line::kClientLow;
    if (!begin(arrival.index, TrackEvent::Began)) {
        line.flags = flags;
        line.touched = ticks_;
        return;
    }
    verdict.began = true;
    follow(arrival, verdict);
}

// A handshake that was completed and found no room: both sides' numbers are the server's own word.
void ConnectionTracker::become_midstream(ConnectionIndex index) noexcept {
    Line& line = lines_[index];
    line.phase = TrackPhase::Midstream;
    line.flags &= Line::kClientLow;
    line.set(Line::kServerKnown | Line::kBeginningSeen);
    line.id = 0;
    line.touched = ticks_;
    if (make_room(TrackClass::Midstream)) {
        move_to(index, TrackClass::Midstream);
    } else {
        remove(index);
    }
}

// Only the server's numbers enter the state, but for the client's windows.
void ConnectionTracker::take_up(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    line.flags &= Line::kClientLow;
    line.set(Line::kMidstream | Line::kClientLong | Line::kServerLong);
    line.client.iss = line.client.una - 1;
    line.server.iss = line.server.next - 1;
    line.server.una = segment.ack;
    line.server.edge = later_of(line.server.next, segment.ack + window_of(segment.window));
    line.client_scale = kMostScale;
    line.server_scale = kMostScale;
    line.client_widest = static_cast<std::uint16_t>(kWidestUnknown >> kMostScale);
    line.server_widest = line.client_widest;
    line.echoed = 0;
    if (!begin(arrival.index, TrackEvent::TakenUp)) {
        line.phase = TrackPhase::Midstream;
        line.flags = (line.flags & Line::kClientLow) | Line::kServerKnown;
        return;
    }
    verdict.began = true;
    follow(arrival, verdict);
}

}  // namespace sluice
