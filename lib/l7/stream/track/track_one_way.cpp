#include "lib/l7/stream/track/connection_tracker.hpp"

// `path: inbound`: only the client's segments come this way. The server's number is what the first
// of them acknowledges. There are no windows, and nothing proves a handshake: who begins first on
// some ports with invented numbers keeps them until that connection ends or is forgotten, and
// others on the same ports are midstream meanwhile.
namespace sluice {
namespace {

// The distance that a client's numbers may be from those of its segment before.
constexpr std::uint32_t kReach = std::uint32_t{1} << 26;
constexpr std::uint32_t kFirstFlight = 0xFFFF;

bool is_near(std::uint32_t number, std::uint32_t last) noexcept {
    return number - last + kReach <= 2 * kReach;
}

}  // namespace

void ConnectionTracker::on_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    if (!arrival.from_client) {
        return pass(verdict);
    }
    const Line& line = lines_[arrival.index];
    if (completes_alternate(arrival.segment, line)) {
        return replace(arrival, verdict);
    }
    const bool living = line.id != 0;
    const bool is_over = line.phase == TrackPhase::Reset || line.is(Line::kClientFin);
    const TrackedSegment& segment = arrival.segment;
    if (living && is_near(segment.seq, line.client.next) &&
        (!segment.has(kTcpAck) || is_near(segment.ack, line.server.next))) {
        return follow_one_way(arrival, verdict);
    }
    const bool of_candidate = has_candidate(line) && segment.has(kTcpAck) &&
                              segment.seq - line.candidate - 1 <= kFirstFlight;
    if (segment.has(kTcpRst)) {
        return living ? drop(verdict, TrackReason::ResetOutOfWindow) : pass(verdict);
    }
    if (of_candidate && (!living || is_over)) {
        return begin_one_way(arrival, verdict);
    }
    if (of_candidate || !living) {
        return on_midstream(arrival, verdict);
    }
    drop(verdict, TrackReason::OutOfWindow);
}

void ConnectionTracker::begin_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    Line& line = lines_[arrival.index];
    const auto half = [](std::uint32_t iss) {
        return TcpHalf{.iss = iss, .next = iss + 1, .una = iss + 1, .edge = iss + 1};
    };
    line.client = half(line.candidate);
    line.server = half(arrival.segment.ack - 1);
    line.flags &= Line::kClientLow | Line::kOneWay;
    if (!begin(arrival.index, TrackEvent::Began)) {
        remove(arrival.index);
        return on_midstream({arrival.segment, arrival.policy, kNoConnection, true}, verdict);
    }
    verdict.began = true;
    follow_one_way(arrival, verdict);
}

void ConnectionTracker::follow_one_way(const Arrival& arrival, TrackVerdict& verdict) noexcept {
    const TrackedSegment& segment = arrival.segment;
    Line& line = lines_[arrival.index];
    if (segment.has(kTcpRst)) {
        pass(verdict);
        return segment.seq == line.client.next ? stand_reset(arrival, verdict)
                                               : count(TrackEvent::ChallengedReset);
    }
    if (line.phase == TrackPhase::Reset) {
        return drop(verdict, TrackReason::BehindReset);
    }
    if (const TrackReason fin = fin_refusal(arrival, line); fin != TrackReason::None) {
        return drop(verdict, fin);
    }
    pass(verdict);
    line.touched = ticks_;
    line.client.next =
        later_of(line.client.next, segment.data_end() + (segment.has(kTcpFin) ? 1U : 0U));
    line.server.next = later_of(line.server.next, segment.ack);
    if (line.client.next - line.client.iss > kWidestWindow) [[unlikely]] {
        line.set(Line::kClientLong);
    }
    verdict.readable = segment.payload != 0;
    verdict.take_from = segment.seq;
    verdict.sent = segment.seq;
    if (segment.has(kTcpFin) && !line.is(Line::kClientFin)) {
        line.set(Line::kClientFin);
        line.client_fin = segment.data_end();
        verdict.ended = true;
        count(TrackEvent::EndedByFin);
    }
}

}  // namespace sluice
