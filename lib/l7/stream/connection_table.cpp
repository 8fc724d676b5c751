#include "lib/l7/stream/connection_table.hpp"

#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {

void ConnectionTable::take(const TcpSegment& segment, MutableBytes scratch, Instant now,
                           StreamOffer& offer) noexcept {
    set_now(now);
    offer = StreamOffer{};
    offer.digest_ = segment.digest;
    offer.source_ = segment.source;
    offer.rest_seq_ = segment.payload_seq();
    offer.rest_ = segment.payload;
    offer.fresh_seq_ = offer.rest_seq_;
    offer.fresh_ = offer.rest_;
    offer.hash_ = segment.hash;
    offer.acknowledged_ = segment.acknowledged;
    offer.is_word_old_ = segment.is_word_old;
    offer.refusals_stand_ = segment.refusals_stand;
    offer.scratch_ = scratch;
    ConnectionIndex index = find_in_time(segment.digest);
    if (index != kNoConnection && segment.syn && begins_anew(segment, lines_[index])) {
        remove(index, ConnectionEvent::SynReuse);
        index = kNoConnection;
    }
    offer.connection_ = index;
    if (index == kNoConnection && refused_.may_have_any(ticks_)) [[unlikely]] {
        if (meets_refused(segment, offer)) {
            return;
        }
    }
    if (index == kNoConnection && goes_unread_at_doubt() && !segment.begins) {
        return;
    }
    if (index == kNoConnection && segment.begins) {
        begin(offer);
    } else if (index != kNoConnection && !segment.payload.empty()) {
        go_on(offer);
    }
    index = offer.connection_;
    if (index == kNoConnection) {
        next(offer);
        return;
    }
    if (!segment.payload.empty()) {
        // Ages are of whole ticks: one that may be up to a tick less is no reason to stop reading.
        const std::uint32_t age = age_of(lines_[index]);
        const std::uint32_t least = goes_unread_at_doubt() && age != 0 ? age - 1 : age;
        const bool is_unsure = now - time_of(least) < unseen_until_;
        // A receiver whose acknowledgements are known tells.
        offer.may_miss_some_ = is_unsure && !segment.acknowledged;
        offer.misses_some_ = misses_some(segment, lines_[index]);
        if (lines_[index].held == kNoLine) {
            lines_[index].touched = ticks_;
        }
        classify(offer, lines_[index]);
    }
    if (segment.fin || segment.rst) {
        note_end(index);
    }
}

bool ConnectionTable::may_begin_at(std::uint64_t digest, std::uint32_t seq) const noexcept {
    const ConnectionIndex index = lines_.find(digest);
    if (index == kNoConnection) {
        return true;
    }
    const Connection& connection = lines_[index];
    const bool is_in_unit = connection.phase == StreamPhase::Framed ||
                            connection.phase == StreamPhase::LongBody ||
                            connection.phase == StreamPhase::UntilClose;
    return !is_in_unit && sequence_distance(connection.next, seq) >= 0;
}

// The connection whose change begins, unless its time is up.
ConnectionIndex ConnectionTable::find_in_time(std::uint64_t digest) noexcept {
    const ConnectionIndex index = lines_.find(digest);
    begin_change(digest, index);
    if (index == kNoConnection) {
        return index;
    }
    const Connection& connection = lines_[index];
    if (connection.held == kNoLine && age_of(connection) > idle_ticks_) {
        remove(index, ConnectionEvent::IdleTimeout);
        return kNoConnection;
    }
    const bool is_late = connection.held != kNoLine && age_of(connection) > half_head_ticks_;
    return is_late && time_out(index) ? kNoConnection : index;
}

void ConnectionTable::classify(StreamOffer& offer, Connection& connection) noexcept {
    if (connection.has_framing) {
        // One way nobody says what the receiver has: nothing comes again from so far back.
        const std::uint32_t oldest = connection.next - JudgedRanges::kMostBytes;
        connection.has_framing =
            framing_.acknowledge(offer.connection_, offer.acknowledged_.value_or(oldest));
    }
    if (connection.has_gap && offer.acknowledged_) {
        connection.has_gap =
            sequence_distance(gap_ends_[offer.connection_], *offer.acknowledged_) < 0;
    }
    if (connection.phase == StreamPhase::LongBody) {
        extend_long_body(connection,
                         offer.rest_seq_ + static_cast<std::uint32_t>(offer.rest_.size()));
    }
    if (!behind(offer, connection)) {
        offer_ahead(offer, connection);
    }
}

// True if bytes of a connection that may have passed unseen lie before a segment so far ahead.
bool ConnectionTable::missed_some(const Connection& connection, std::size_t at) noexcept {
    const std::size_t reached = connection.held == kNoLine ? 0 : held_of(connection).in_order();
    return at > reached && connection.phase != StreamPhase::UntilClose;
}

// Bytes that passed unseen end here at the earliest. What its receiver has acknowledged it has;
// what lies between that and the segment it may lack still, and would read together with the
// segment.
std::uint32_t ConnectionTable::missed_until(const StreamOffer& offer) noexcept {
    const bool is_ahead =
        offer.acknowledged_ && sequence_distance(*offer.acknowledged_, offer.rest_seq_) > 0;
    return is_ahead ? *offer.acknowledged_ : offer.rest_seq_;
}

// Gives up half units, since nothing will come any more that tells where they end. `begins_at`:
// bytes before it are no more waited for.
void ConnectionTable::lose_track(const StreamOffer& offer, Connection& connection,
                                 std::uint32_t begins_at) noexcept {
    counters_.count(ConnectionEvent::MissedSome);
    if (goes_unread_at_doubt()) {
        stop_reading(offer.connection_, UnreadReason::Missed);
        return;
    }
    if (connection.held != kNoLine) {
        end_half_head(offer.connection_);
    }
    begin_unit_at(offer.connection_, begins_at);
    connection.phase = StreamPhase::Lost;
    connection.touched = ticks_;
    regroup(offer.connection_);
}

// A head may begin in the first `count` bytes of all that is left, unless that would be a guess.
void ConnectionTable::resync(StreamOffer& offer, std::size_t count) noexcept {
    if (!goes_unread_at_doubt()) {
        offer.resync(count);
        return;
    }
    stop_reading(offer.connection_, UnreadReason::Gap);
    pass(offer);
}

// Nothing of the segment is read.
void ConnectionTable::pass(StreamOffer& offer) noexcept {
    offer.kind = Offered::Nothing;
    offer.bytes = {};
    offer.rest_ = {};
}

void ConnectionTable::stop_reading(ConnectionIndex index, UnreadReason reason) noexcept {
    if (lines_[index].phase == StreamPhase::Unread) {
        return;
    }
    counters_.count_unread(lines_[index].protocol, reason);
    lines_[index].phase = StreamPhase::Unread;
    if (lines_[index].held != kNoLine) {
        end_half_head(index);
    }
    regroup(index);
}

void ConnectionTable::offer_ahead(StreamOffer& offer, Connection& connection) noexcept {
    const bool may_miss_some =
        offer.may_miss_some_ && missed_some(connection, offer.rest_seq_ - connection.next);
    if (may_miss_some || offer.misses_some_) [[unlikely]] {
        offer.misses_some_ = false;
        lose_track(offer, connection, missed_until(offer));
    }
    if (connection.is_unheard && hears_again(offer, connection)) [[unlikely]] {
        return;
    }
    if (connection.phase == StreamPhase::Lost && offer.acknowledged_) {
        const std::uint32_t until = missed_until(offer);
        if (sequence_distance(connection.next, until) > 0) {
            begin_unit_at(offer.connection_, until);
        }
    }
    const std::size_t at = offer.rest_seq_ - connection.next;
    if (is_settled_by_phase(offer, connection, at)) {
        return;
    }
    const bool reached =
        at == 0 || (connection.held != kNoLine && at <= held_of(connection).in_order());
    reached ? in_order(offer, connection, at) : out_of_order(offer, connection, at);
}

bool ConnectionTable::is_settled_by_phase(StreamOffer& offer, Connection& connection,
                                          std::size_t at) noexcept {
    switch (connection.phase) {
        case StreamPhase::Unread:
            refuse(offer, RefusedWhy::Unreadable);
            return true;
        case StreamPhase::UntilClose:
            offer.judged = std::max(
                offer.judged,
                connection.judged.strictest(connection.next - 1, connection.next, connection.next));
            connection.next = offer.rest_seq_ + static_cast<std::uint32_t>(offer.rest_.size());
            connection.judged.end_at(connection.next);
            offer.kind = Offered::Judged;
            return true;
        case StreamPhase::Lost:
            if (at != 0 && offer.acknowledged_) {
                // A head may begin in the bytes before it: it comes again behind them.
                counters_.count(ConnectionEvent::OutOfReach);
                refuse(offer, RefusedWhy::MissedSome);
                return true;
            }
            if (at != 0 || !goes_unread_at_doubt()) {
                resync(offer, offer.rest_.size());
                return true;
            }
            connection.phase = StreamPhase::Head;
            return false;
        case StreamPhase::Forgotten:
        case StreamPhase::Untaken:
            // Other bytes in the place of those that a server may have would be read in vain.
            if (at != 0 || connection.phase == StreamPhase::Forgotten) {
                counters_.count(ConnectionEvent::HeadForgotten);
                refuse(offer, RefusedWhy::HeadForgotten);
                return true;
            }
            connection.phase = StreamPhase::Head;
            return false;
        default:
            return false;
    }
}

// The segment goes on with what is held in order, from `at` on.
void ConnectionTable::in_order(StreamOffer& offer, Connection& connection,
                               std::size_t at) noexcept {
    if (connection.held == kNoLine) {
        offer.kind = connection.phase == StreamPhase::Framed ? Offered::Framed : Offered::Head;
        offer.framing = connection.framing;
        offer.bytes = offer.rest_;
        offer.seq = connection.next;
        return;
    }
    HeldHead& held = held_of(connection);
    if (HeldBytes{pool_, connection.held}.differs(at, offer.rest_)) {
        counters_.count(ConnectionEvent::Differing);
        offer.differs = true;
    }
    const auto fresh = [&] {
        return offer.rest_.subspan(std::min(offer.rest_.size(), held.in_order() - at));
    };
    if (held.has_gaps() && !fresh().empty()) {
        // Bytes ahead may come first: the fresh ones join them.
        const std::size_t room = budget_.head_bytes - std::min(held.in_order(), budget_.head_bytes);
        if (hold(offer, held.in_order(), fresh().first(std::min(room, fresh().size()))) !=
            Holding::Held) {
            return;
        }
    }
    offer_held(offer, connection, fresh());
}

bool ConnectionTable::needs_reading(const Connection& connection, ByteView fresh) noexcept {
    const HeldHead& held = held_of(connection);
    const std::size_t all = held.in_order() + fresh.size();
    if (all >= budget_.head_bytes) {
        return true;
    }
    const bool ended = LineEnds::is_news(LineEnds::scan(held.line_end, fresh)) ||
                       CarriageReturns::is_news(CarriageReturns::scan(held.returns, fresh));
    // A line that is kept: a quarter longer, or with bytes that may say what it is.
    const bool is_news =
        held.is_guess != 0 && !fresh.empty() && LineTail::is_news(held.is_guess, fresh);
    return all != 0 && (all >= held.wanted || ended || is_news);
}

// The bytes held in order and the fresh ones behind them.
void ConnectionTable::offer_held(StreamOffer& offer, Connection& connection,
                                 ByteView fresh) noexcept {
    if (!needs_reading(connection, fresh)) {
        if (hold(offer, held_of(connection).in_order(), fresh) == Holding::Held) {
            offer.kind = Offered::Held;
            offer.rest_ = {};
        }
        return;
    }
    const std::size_t size = HeldBytes{pool_, connection.held}.copy(offer.scratch_);
    counters_.copied_bytes.add(size);
    const ByteView fits = fresh.first(std::min(fresh.size(), offer.scratch_.size() - size));
    std::copy(fits.begin(), fits.end(), offer.scratch_.begin() + static_cast<std::ptrdiff_t>(size));
    offer.kind = connection.phase == StreamPhase::Framed ? Offered::Framed : Offered::Head;
    offer.framing = connection.framing;
    offer.bytes = ByteView{offer.scratch_}.first(size + fits.size());
    offer.seq = connection.next;
    if (held_of(connection).is_guess != 0) {
        offer.kind = Offered::Resync;
        offer.may_begin = offer.bytes.size();
    }
}

// The segment begins behind a gap: held where a head reaches, else refused, or elsewhere
// than in a service no more read.
void ConnectionTable::out_of_order(StreamOffer& offer, Connection& connection,
                                   std::size_t at) noexcept {
    const bool had_any = connection.held != kNoLine;
    if (had_any && held_of(connection).is_guess != 0) {
        counters_.count(ConnectionEvent::OutOfReach);
        refuse(offer, RefusedWhy::MissedSome);
        return;
    }
    if (at + offer.rest_.size() > budget_.head_bytes) {
        counters_.count(ConnectionEvent::OutOfReach);
        refuse(offer, RefusedWhy::OutOfReach);
        return;
    }
    if (!had_any && !begin_half_head(offer)) {
        return;
    }
    if (had_any && HeldBytes{pool_, connection.held}.differs(at, offer.rest_)) {
        counters_.count(ConnectionEvent::Differing);
        offer.differs = true;
    }
    if (hold(offer, at, offer.rest_) != Holding::Held) {
        return;
    }
    counters_.count(ConnectionEvent::OutOfOrder);
    offer.kind = Offered::Held;
    offer.rest_ = {};
}

void ConnectionTable::next(StreamOffer& offer) noexcept {
    if (offer.kind == Offered::Refused || offer.kind == Offered::Judged) {
        return;
    }
    const Offered before = offer.parses() ? Offered::Nothing : offer.kind;
    offer.bytes = {};
    offer.kind = before;
    Connection* connection = of(offer);
    if (connection == nullptr) {
        offer.kind = offer.rest_.empty() ? before : Offered::Head;
        offer.bytes = offer.rest_;
        offer.seq = offer.rest_seq_;
        return;
    }
    if (connection->phase == StreamPhase::LongBody) {
        offer.rest_ = {};
    }
    const std::int64_t ahead = sequence_distance(connection->next, offer.rest_seq_);
    if (ahead < 0 && !offer.rest_.empty() && behind(offer, *connection)) {
        return;
    }
    if (!offer.rest_.empty()) {
        offer_ahead(offer, *connection);
        return;
    }
    const bool framed_or_head =
        connection->phase == StreamPhase::Head || connection->phase == StreamPhase::Framed;
    if (framed_or_head && connection->held != kNoLine && needs_reading(*connection, {})) {
        offer_held(offer, *connection, {});
    }
}

}  // namespace sluice
