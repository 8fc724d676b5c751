#include "lib/l7/stream/tick.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"

#include <algorithm>
#include <vector>

// Connections that outlive the process. Numbers go on as they were left; handshakes whose SYN was
// not answered, and connections whose beginning nobody saw, are forgotten. Time away passes as
// silence does.
namespace sluice {
namespace {

// So far behind of what was known, or ahead of it, as bytes may have passed another way.
constexpr std::uint32_t kBehindKnown = 0xFFFF;

bool is_near_known(std::uint32_t number, std::uint32_t last) noexcept {
    return number - last + kBehindKnown <= kUnseenFlight + kBehindKnown;
}

}  // namespace

ConnectionTracker::ConnectionTracker(const TrackBudget& budget, const KeyHasher& hash,
                                     KeptMemory& memory)
    : budget_{budget},
      hash_{hash},
      change_{memory},
      lines_{memory.is_kept() ? HopscotchLines<Line>{lines_of(budget),
                                                     memory.take(HopscotchLines<Line>::line_bytes(
                                                         lines_of(budget)))}
                              : HopscotchLines<Line>{lines_of(budget)}},
      members_(lines_.capacity()),
      shares_{budget.connections, budget.connections, members_},
      evicted_of_most_{evicted_of(budget), ticks_of(budget.idle_timeout), FullHeads::Evict} {}

std::uint64_t ConnectionTracker::kept_of(const TrackBudget& budget) noexcept {
    return decltype(change_)::bytes() +
           KeptMemory::taken_for(HopscotchLines<Line>::line_bytes(lines_of(budget)));
}

bool ConnectionTracker::can_go_on(const Line& line) noexcept {
    const bool has_begun = line.phase == TrackPhase::Established ||
                           line.phase == TrackPhase::Reset || line.phase == TrackPhase::BoxReset;
    const bool is_known = has_begun ? line.id != 0 : line.phase == TrackPhase::SynReceived;
    return is_known && line.service < kMostServices && line.client_scale <= kMostScale &&
           line.server_scale <= kMostScale;
}

TrackClass ConnectionTracker::class_of(const Line& line) noexcept {
    if (line.phase == TrackPhase::SynReceived) {
        return TrackClass::HalfOpen;
    }
    return line.phase == TrackPhase::Established && !line.is(Line::kEnded) ? TrackClass::Established
                                                                           : TrackClass::Closed;
}

void ConnectionTracker::take_over(Instant now) {
    if (!change_.is_kept()) {
        return;
    }
    now_ = now;
    ticks_ = ticks_of(now.time_since_epoch());
    change_.undo(lines_);
    lines_.recover([](const Line& line) { return can_go_on(line); });
    std::vector<ConnectionIndex> found;
    for (std::size_t at = 0; at < lines_.capacity(); ++at) {
        if (!lines_[static_cast<ConnectionIndex>(at)].is_free()) {
            found.push_back(static_cast<ConnectionIndex>(at));
        }
    }
    std::sort(found.begin(), found.end(), [&](ConnectionIndex a, ConnectionIndex b) {
        return age_of(lines_[a]) > age_of(lines_[b]);
    });
    for (const ConnectionIndex index : found) {
        if (!make_room(class_of(lines_[index]), lines_[index].source)) {
            lines_.remove(index);
            continue;
        }
        enlist(index, class_of(lines_[index]));
        lines_[index].listed_at = lines_[index].touched;
        if (lines_[index].phase == TrackPhase::Established) {
            lines_[index].set(Line::kServerUnheard);
        }
    }
    has_taken_over_ = !found.empty();
    taken_over_ticks_ = ticks_;
    counters_.by_event[static_cast<std::size_t>(TrackEvent::Inherited)].add(lines_.size());
}

// Both ends' numbers may have moved on where nobody saw it. As of a connection that is taken up in
// its middle, the server's word is believed from then on, and a client's as far as it fits. False:
// the segment says nothing of the kind.
bool ConnectionTracker::catch_up(const Arrival& arrival, Line& line) noexcept {
    const TrackedSegment& segment = arrival.segment;
    TcpHalf& sent = line.half(arrival.from_client);
    TcpHalf& other = line.half(!arrival.from_client);
    const bool acknowledges_unseen = is_behind(segment.ack, other.next);
    const bool is_beyond = segment.payload != 0 && is_behind(segment.data_end(), sent.edge);
    if (!segment.has(kTcpAck) || !(acknowledges_unseen || is_beyond) ||
        !is_near_known(segment.ack, other.next) || !is_near_known(segment.data_end(), sent.next)) {
        return false;
    }
    line.set(Line::kMidstream | Line::kClientLong | Line::kServerLong);
    other.next = later_of(other.next, segment.ack);
    other.edge = later_of(other.edge, other.next);
    sent.edge = later_of(sent.edge, segment.data_end());
    return true;
}

// A segment that would be dropped all the same moves nothing.
void ConnectionTracker::take_if_moved_on(const Arrival& arrival) noexcept {
    Line moved = lines_[arrival.index];
    if (!catch_up(arrival, moved)) {
        return;
    }
    const TrackedSegment& segment = arrival.segment;
    const DataPlace place = place_of_data(moved.half(arrival.from_client), segment.seq,
                                          segment.data_end(), moved.is_long(arrival.from_client));
    if (refusal_of(arrival, moved, place) == TrackReason::None) {
        count(TrackEvent::MovedOn);
        lines_[arrival.index] = moved;
    }
}

}  // namespace sluice
