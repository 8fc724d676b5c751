#include "lib/l7/stream/connection_table.hpp"

#include <algorithm>

// Bytes before `next`: judged, or held by no unit.
namespace sluice {
namespace {

// A unit whose verdict was undone may lie there, on a connection that is read.
bool may_read_again(const Connection& connection, std::uint32_t seq) noexcept {
    const JudgedRanges& judged = connection.judged;
    return connection.phase != StreamPhase::Unread && !judged.empty() &&
           sequence_distance(judged.begin(), seq) >= 0;
}

}  // namespace

// Bytes before `next` are taken off the segment with their verdict. True: that is all there is to
// it, because nothing is left, or because what is left goes where the refused bytes before it go.
// A unit may begin in bytes that are in none, and in none that a unit holds; where the protocol is
// a guess, only in those of a unit whose verdict was undone.
bool ConnectionTable::behind(StreamOffer& offer, Connection& connection) noexcept {
    while (sequence_distance(connection.next, offer.rest_seq_) < 0) {
        const std::uint32_t end = offer.rest_seq_ + static_cast<std::uint32_t>(offer.rest_.size());
        std::uint32_t to = sequence_distance(connection.next, end) < 0 ? end : connection.next;
        const JudgedRanges& judged = connection.judged;
        StickyVerdict verdict = judged.strictest(offer.rest_seq_, to, connection.next);
        if (verdict == StickyVerdict::Unjudged) {
            to = judged.alike_until(offer.rest_seq_, to, connection.next);
            verdict = judged.strictest(offer.rest_seq_, to, connection.next);
        }
        if (verdict == StickyVerdict::Unjudged && goes_unread_at_doubt() &&
            !may_read_again(connection, offer.rest_seq_)) {
            if (sequence_distance(connection.next, end) > 0) {
                stop_reading(offer.connection_, UnreadReason::Gap);
            }
            pass(offer);
            return true;
        }
        if (verdict == StickyVerdict::Unjudged && is_in_gap(offer, connection)) {
            counters_.count(ConnectionEvent::OutOfReach);
            refuse(offer, RefusedWhy::MissedSome);
            return true;
        }
        if (verdict == StickyVerdict::Unjudged) {
            const bool all = to == end || to == connection.next;
            offer.resync(all ? offer.rest_.size() : to - offer.rest_seq_);
            return true;
        }
        if (repeats(offer, to, verdict, connection)) {
            return true;
        }
    }
    return false;
}

// Up to there the bytes have this verdict. True: so has the whole segment.
bool ConnectionTable::repeats(StreamOffer& offer, std::uint32_t to, StickyVerdict verdict,
                              Connection& connection) noexcept {
    counters_.count(ConnectionEvent::Repeated);
    offer.repeats = true;
    offer.judged = std::max(offer.judged, verdict);
    const bool differs = !blocks(verdict) && !may_repeat(offer, to, connection);
    if (differs) {
        counters_.count(ConnectionEvent::Differing);
        offer.differs = true;
    }
    const std::size_t known = to - offer.rest_seq_;
    if (known == offer.rest_.size() || differs || blocks(verdict)) {
        offer.kind = Offered::Judged;
        return true;
    }
    if (offer.fresh_seq_ == offer.rest_seq_) {
        offer.fresh_ = offer.fresh_.subspan(known);
        offer.fresh_seq_ = to;
    }
    offer.rest_ = offer.rest_.subspan(known);
    offer.rest_seq_ = to;
    return false;
}

// A keep-alive repeats the last byte, whatever it holds (RFC 1122, 4.2.3.6), once its receiver has
// acknowledged that. Where nothing is refused for what may be one, nothing tells.
bool ConnectionTable::may_repeat(const StreamOffer& offer, std::uint32_t to,
                                 Connection& connection) noexcept {
    if (offer.hash_ == nullptr) {
        return true;
    }
    const ByteView bytes = offer.rest_.first(to - offer.rest_seq_);
    if (!framing_agrees(offer, bytes)) {
        // A part of lines that are kept as one cannot be compared with them.
        return seen_[offer.connection_].holds(offer.rest_seq_, bytes, *offer.hash_, recent_);
    }
    if (framing_.is_in_body(offer.connection_, offer.rest_seq_, to)) {
        return true;
    }
    const bool keeps_alive = goes_unread_at_doubt() && bytes.size() == 1 && to == connection.next;
    forget_acknowledged(offer);
    return keeps_alive || is_same(offer, bytes.size());
}

// Same as what came first, in any cuts: whoever cuts otherwise has a path that became narrower.
bool ConnectionTable::is_same(const StreamOffer& offer, std::size_t size) noexcept {
    using Repeat = SeenSegments::Repeat;
    const Repeat is = seen_[offer.connection_].compare({offer.rest_seq_, offer.rest_, size},
                                                       *offer.hash_, recent_);
    if (is == Repeat::SamePart) {
        counters_.count(ConnectionEvent::PartRepeated);
    } else if (is == Repeat::Untold) {
        counters_.count(ConnectionEvent::EvictedRepeat);
    }
    return is < Repeat::Untold;
}

// The receiver ignores other bytes in the place of those that it has.
void ConnectionTable::forget_acknowledged(const StreamOffer& offer) noexcept {
    if (offer.acknowledged_) {
        SeenSegments& seen = seen_[offer.connection_];
        seen_change_.begin(&seen, offer.digest_, offer.connection_);
        seen.forget_before(*offer.acknowledged_);
        seen_change_.end();
    }
}

// The bytes of a body that say where the next request begins, as they came first.
bool ConnectionTable::framing_agrees(const StreamOffer& offer, ByteView bytes) const noexcept {
    return framing_.agrees(offer.connection_, {.from = offer.rest_seq_, .bytes = bytes},
                           *offer.hash_);
}

// False: there is no room.
bool ConnectionTable::note_framing(const StreamOffer& offer, ByteView bytes,
                                   std::span<const PayloadRange> lines) noexcept {
    if (offer.hash_ == nullptr || lines.empty()) {
        return true;
    }
    using Added = FramingBytes::Added;
    const FramingBytes::Adding adding =
        framing_.add({.connection = offer.connection_, .source = members_[offer.connection_].id},
                     {.from = offer.seq, .bytes = bytes}, lines, offer.acknowledged_, *offer.hash_);
    if (adding.what == Added::Evicted) {
        counters_.count(ConnectionEvent::EvictedFraming);
    }
    if (adding.what == Added::Full) {
        return false;
    }
    lines_[offer.connection_].has_framing = true;
    return true;
}

void ConnectionTable::note_seen(const StreamOffer& offer) noexcept {
    if (offer.hash_ != nullptr && offer.connection_ != kNoConnection && !offer.fresh_.empty()) {
        SeenSegments& seen = seen_[offer.connection_];
        seen_change_.begin(&seen, offer.digest_, offer.connection_);
        seen.add(offer.fresh_seq_, offer.fresh_, offer.acknowledged_, *offer.hash_, recent_);
        seen_change_.end();
    }
}

}  // namespace sluice
