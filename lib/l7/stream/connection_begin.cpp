#include "lib/l7/stream/connection_table.hpp"

// Connections of the table begin at a SYN, or at a place that its caller knows.
namespace sluice {

bool ConnectionTable::begin_at(const TcpSegment& segment, const StreamPlace& place,
                               Instant now) noexcept {
    set_now(now);
    const bool is_refused =
        refused_.may_have_any(ticks_) &&
        (refused_.meets(segment.digest, ticks_) || refused_.may_be_one(segment.digest, ticks_));
    if (lines_.find(segment.digest) != kNoConnection || is_refused) {
        return true;
    }
    const std::uint32_t begin = segment.payload_seq();
    const std::uint32_t end = begin + static_cast<std::uint32_t>(segment.payload.size());
    const bool holds_all =
        sequence_distance(begin, place.first) >= 0 && sequence_distance(place.sent, end) >= 0;
    if (sequence_distance(place.first, place.sent) > 0 && !holds_all) {
        counters_.count(ConnectionEvent::AheadForgotten);
        return false;
    }
    StreamOffer offer;
    offer.digest_ = segment.digest;
    offer.source_ = segment.source;
    begin_change(segment.digest, kNoConnection);
    if (open(offer, place.first)) {
        Connection& connection = lines_[offer.connection_];
        connection.phase = place.is_head ? StreamPhase::Head : StreamPhase::Lost;
        connection.is_inherited = connection.is_unheard = segment.is_word_old;
        regroup(offer.connection_);
    }
    change_.end();
    return true;
}

// A connection that had to make room: nothing tells which of its bytes were forwarded.
bool ConnectionTable::meets_refused(const TcpSegment& segment, StreamOffer& offer) noexcept {
    if (!refused_.meets(segment.digest, ticks_)) {
        if (!refused_.may_be_one(segment.digest, ticks_)) {
            return false;
        }
        counters_.count(ConnectionEvent::RefusedUntold);
    }
    const bool ends = segment.fin && stance_ == ReadingStance::Service;
    if (!segment.payload.empty() || ends) {
        counters_.count(ConnectionEvent::HeadForgotten);
        refuse(offer, RefusedWhy::HeadForgotten);
    } else if (segment.begins) {
        counters_.count(ConnectionEvent::SynIgnored);
    }
    return true;
}

// A SYN that repeats what began the connection changes nothing; nor does one that would erase what
// is at stake, which its sender may have made so that nobody else sees it. Without a service it is
// believed: the ports may be another connection's by now.
bool ConnectionTable::begins_anew(const TcpSegment& segment, Connection& connection) noexcept {
    const std::uint32_t begin =
        connection.judged.empty() ? connection.next : connection.judged.begin();
    const std::uint32_t first = segment.payload_seq();
    if (sequence_distance(begin, first) >= 0 && sequence_distance(first, connection.next) >= 0) {
        return false;
    }
    if (connection.at_stake() && !goes_unread_at_doubt()) {
        counters_.count(ConnectionEvent::SynIgnored);
        return false;
    }
    return true;
}

// Heads begin at a known place from a SYN on, so that the second half of one can come first. A
// flood of them takes no more lines than its budget.
void ConnectionTable::begin(StreamOffer& offer) noexcept {
    if (begun_ >= budget_.begun) {
        remove(ages_of(AgeGroup::Begun).oldest(), ConnectionEvent::EvictedBegun);
    }
    if (open(offer, offer.rest_seq_)) {
        counters_.count(ConnectionEvent::Begun);
        lines_[offer.connection_].phase = StreamPhase::Begun;
        regroup(offer.connection_);
    }
}

// The first bytes of a connection: what its SYN said holds if they lie where a head reaches to.
void ConnectionTable::go_on(StreamOffer& offer) noexcept {
    Connection& connection = lines_[offer.connection_];
    if (connection.phase != StreamPhase::Begun) {
        return;
    }
    const std::int64_t ahead = sequence_distance(connection.next, offer.rest_seq_);
    if (ahead < 0 || ahead > static_cast<std::int64_t>(budget_.head_bytes)) {
        if (goes_unread_at_doubt()) {
            counters_.count(ConnectionEvent::BegunElsewhere);
            stop_reading(offer.connection_, UnreadReason::Gap);
            return;
        }
        remove(offer.connection_, ConnectionEvent::BegunElsewhere);
        offer.connection_ = kNoConnection;
        return;
    }
    connection.phase = StreamPhase::Head;
    regroup(offer.connection_);
}

}  // namespace sluice
