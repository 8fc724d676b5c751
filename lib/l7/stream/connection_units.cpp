#include "lib/l7/stream/connection_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// Findings of the caller: whole heads, half heads, bodies.
namespace sluice {
namespace {

// How far `next` is moved into a body at once, so that the numbers on both sides of it can be told
// apart.
constexpr std::uint64_t kBodyStep = std::uint64_t{1} << 28;

std::uint64_t body_left(const Connection& connection) noexcept {
    std::uint64_t left = 0;
    std::memcpy(&left, connection.framing.data(), sizeof(left));
    return left;
}

void set_body_left(Connection& connection, std::uint64_t left) noexcept {
    std::memcpy(connection.framing.data(), &left, sizeof(left));
    connection.phase = left == 0 ? StreamPhase::Head : StreamPhase::LongBody;
}

}  // namespace

void ConnectionTable::extend_long_body(Connection& connection, std::uint32_t until) noexcept {
    const std::int64_t missing = sequence_distance(connection.next, until);
    if (missing < -static_cast<std::int64_t>(kBodyStep / 2)) {
        return;
    }
    const std::uint64_t left = body_left(connection);
    const std::uint64_t step = std::min(
        left, std::max(kBodyStep, static_cast<std::uint64_t>(std::max<std::int64_t>(missing, 0))));
    connection.next += static_cast<std::uint32_t>(step);
    connection.judged.end_at(connection.next);
    set_body_left(connection, left - step);
}

// A head begins there, ahead of `next`: what lies between was not judged.
void ConnectionTable::begin_unit_at(ConnectionIndex index, std::uint32_t seq) noexcept {
    Connection& connection = lines_[index];
    const std::uint32_t between = seq - connection.next;
    if (between != 0) {
        connection.judged.append(StickyVerdict::Unjudged, connection.next, seq);
        connection.next = seq;
        drop_held(index, between);
    }
}

// The head begins so many bytes later.
void ConnectionTable::drop_held(ConnectionIndex index, std::uint64_t bytes) noexcept {
    Connection& connection = lines_[index];
    if (connection.held == kNoLine) {
        return;
    }
    HeldHead& held = held_of(connection);
    if (bytes < kMostHeadBytes) {
        HeldBytes{pool_, connection.held}.drop_front(bytes);
    }
    if (bytes >= kMostHeadBytes || held.count == 0) {
        end_half_head(index);
        return;
    }
    held.wanted = 0;
    held.may_be_none = false;
    held.is_guess = 0;
    held.line_end = 0;
    held.returns = 0;
    connection.touched = ticks_;
    ages_of(AgeGroup::HalfHead).remove(lines_, index);
    ages_of(AgeGroup::HalfHead).push_newest(lines_, index);
}

void ConnectionTable::set_body(ConnectionIndex index, const UnitBody& body,
                               std::uint64_t left) noexcept {
    Connection& connection = lines_[index];
    connection.framing = body.framing;
    switch (body.kind) {
        case UnitBody::Kind::Sized:
            set_body_left(connection, left);
            return;
        case UnitBody::Kind::Framed:
            connection.phase = StreamPhase::Framed;
            return;
        case UnitBody::Kind::UntilClose:
            connection.phase = StreamPhase::UntilClose;
            break;
        case UnitBody::Kind::Unknown:
            connection.phase = StreamPhase::Lost;
            break;
    }
    if (connection.held != kNoLine) {
        end_half_head(index);
    }
}

// A unit that begins among bytes that no unit held. Where heads are looked for, the stream goes on
// behind it. Elsewhere the place where it goes on stays, and what reaches beyond it is a part of
// what is there.
void ConnectionTable::finish_behind(StreamOffer& offer, Connection& connection, std::uint32_t size,
                                    StickyVerdict verdict) noexcept {
    if (connection.judged.empty() || sequence_distance(connection.judged.begin(), offer.seq) < 0) {
        counters_.count(ConnectionEvent::Unremembered);
    }
    const std::uint32_t end = offer.seq + size;
    connection.judged.paint(verdict, offer.seq, end, connection.next);
    const bool reaches_beyond = sequence_distance(connection.next, end) > 0;
    if (reaches_beyond && connection.phase == StreamPhase::Lost) {
        connection.judged.append(verdict, connection.next, end);
        connection.next = end;
    }
    offer.take_off(std::min(size, connection.next - offer.seq));
    regroup(offer.connection_);
}

void ConnectionTable::finish(StreamOffer& offer, std::size_t head, StickyVerdict verdict,
                             const UnitBody& body) noexcept {
    SLUICE_CHECK(offer.parses() && head != 0 && head <= offer.bytes.size());
    const std::uint64_t extent =
        body.kind == UnitBody::Kind::Sized ? body.bytes + head : std::uint64_t{head};
    const auto first = static_cast<std::uint32_t>(std::min(extent, kBodyStep));
    if (offer.connection_ == kNoConnection && !open(offer, offer.seq)) {
        offer.take_off(first);
        counters_.count(ConnectionEvent::Unremembered);
        return;
    }
    Connection& connection = lines_[offer.connection_];
    const std::int64_t ahead = sequence_distance(connection.next, offer.seq);
    if (ahead != 0) {
        counters_.count(ConnectionEvent::Resynchronised);
    }
    if (ahead < 0) {
        finish_behind(offer, connection, first, verdict);
        return;
    }
    offer.take_off(first);
    begin_unit_at(offer.connection_, offer.seq);
    if (connection.held != kNoLine && held_of(connection).in_order() != 0) {
        counters_.count(ConnectionEvent::Assembled);
    }
    connection.next = offer.seq + first;
    connection.judged.append(verdict, offer.seq, connection.next);
    drop_held(offer.connection_, first);
    set_body(offer.connection_, body, extent - first);
    if (connection.phase == StreamPhase::Framed) {
        framing_.begin_body(offer.connection_, connection.next);
    }
    regroup(offer.connection_);
}

bool ConnectionTable::may_await_answer(const StreamOffer& offer, std::uint32_t ack) noexcept {
    if (offer.connection_ == kNoConnection) {
        return false;
    }
    if (lines_[offer.connection_].is_inherited) {
        return true;  // answers to requests of before were framed by another process
    }
    Beside& last = beside_[offer.connection_];
    const bool awaits = last.is_ack_known && sequence_distance(last.number, ack) <= 0;
    last.number = ack;
    last.is_ack_known = true;
    return awaits;
}

void ConnectionTable::framed(StreamOffer& offer, std::size_t bytes, const UnitBody& rest,
                             std::span<const PayloadRange> lines) noexcept {
    SLUICE_CHECK(offer.kind == Offered::Framed && bytes <= offer.bytes.size());
    Connection& connection = lines_[offer.connection_];
    const bool is_framed = rest.kind == UnitBody::Kind::Framed;
    const std::size_t taken = is_framed ? offer.bytes.size() : bytes;
    const std::uint64_t step = is_framed ? 0 : std::min(rest.bytes, kBodyStep);
    if (!note_framing(offer, offer.bytes.first(taken), lines)) {
        counters_.count(ConnectionEvent::FramingFull);
        refuse(offer, RefusedWhy::Full);
        return;
    }
    offer.take_off(taken);
    connection.next += static_cast<std::uint32_t>(taken + step);
    connection.judged.end_at(connection.next);
    set_body(offer.connection_, rest, rest.bytes - step);
    if (!is_framed) {
        framing_.end_body(offer.connection_, connection.next);
    }
    drop_held(offer.connection_, taken + step);
}

// The connection's head begins where the offer does. False: it cannot, and the offer is refused.
bool ConnectionTable::move_to(StreamOffer& offer, Connection& connection) noexcept {
    const std::int64_t ahead = sequence_distance(connection.next, offer.seq);
    if (ahead >= 0) {
        begin_unit_at(offer.connection_, offer.seq);
        connection.phase = StreamPhase::Head;
        return true;
    }
    const JudgedRanges& judged = connection.judged;
    if (!judged.empty() && sequence_distance(judged.begin(), offer.seq) >= 0) {
        // In a gap that is known: its reader cannot have seen what lies behind it.
        if (connection.held != kNoLine) {
            end_half_head(offer.connection_);
        }
        connection.judged.end_at(offer.seq);
    } else {
        counters_.count(ConnectionEvent::OutOfReach);
        refuse(offer, RefusedWhy::OutOfReach);
        return false;
    }
    connection.next = offer.seq;
    connection.phase = StreamPhase::Head;
    return true;
}

void ConnectionTable::more(StreamOffer& offer, const HeadNeed& need) noexcept {
    SLUICE_CHECK(offer.parses());
    if (offer.connection_ == kNoConnection && !open(offer, offer.seq)) {
        // Without a line nothing tells the rest of the head from any other bytes.
        refuse_from_now_on(offer.digest_);
        counters_.count(ConnectionEvent::RefusedFull);
        refuse(offer, RefusedWhy::Full);
        return;
    }
    Connection& connection = lines_[offer.connection_];
    if (!move_to(offer, connection)) {
        return;
    }
    const ByteView bytes = offer.bytes;
    if (bytes.size() >= budget_.head_bytes) {
        forget_head(offer.connection_, ConnectionEvent::HeadTooLong);
        refuse(offer, RefusedWhy::HeadTooLong);
        return;
    }
    if (connection.held == kNoLine && !begin_half_head(offer)) {
        if (!goes_unread_at_doubt()) {
            connection.phase = StreamPhase::Untaken;
            regroup(offer.connection_);
        }
        return;
    }
    HeldHead& held = held_of(connection);
    const std::size_t there = std::min(held.in_order(), bytes.size());
    if (hold(offer, there, bytes.subspan(there)) != Holding::Held) {
        return;
    }
    // Bytes that its owner has not seen may say what a line is.
    const bool is_all_seen = !held.has_gaps() && held.in_order() == bytes.size();
    const std::uint8_t tail = is_all_seen ? LineTail::of(bytes) : LineTail::kAny;
    const bool is_alike = need.is_guess && tail != LineTail::kAny;
    const std::size_t wanted =
        std::max(need.bytes, bytes.size() + 1) + (is_alike ? bytes.size() / 4 : std::size_t{0});
    held.wanted = static_cast<std::uint16_t>(std::min(wanted, budget_.head_bytes));
    held.may_be_none = need.may_be_none;
    held.is_guess = need.is_guess ? tail : 0;
    held.is_none_at_end = need.is_none_at_end ? 1 : 0;
    // Bytes ahead that the head has caught up with are new to the caller.
    const bool caught_up = held.in_order() > bytes.size();
    const bool is_new_to_caller = caught_up && need.blank_line;
    constexpr unsigned kSeen = LineEnds::kBlank | LineEnds::kLine;
    held.line_end = static_cast<std::uint8_t>(
        (LineEnds::scan(0, bytes) & ~kSeen) | (need.blank_line ? LineEnds::kWanted : 0U) |
        (need.line ? LineEnds::kLineWanted : 0U) | (is_new_to_caller ? LineEnds::kBlank : 0U));
    const unsigned returns = CarriageReturns::scan(0, bytes);
    held.returns = static_cast<std::uint8_t>((returns & CarriageReturns::kAfter) |
                                             (need.bare_return ? CarriageReturns::kWanted : 0U) |
                                             (caught_up ? CarriageReturns::kBare : 0U));
    offer.kind = Offered::Held;
    offer.rest_ = {};
}

void ConnectionTable::keep_line(StreamOffer& offer, std::size_t from,
                                bool is_none_at_end) noexcept {
    const Connection* const connection = of(offer);
    const std::uint32_t seq = offer.seq + static_cast<std::uint32_t>(from);
    if (connection == nullptr || sequence_distance(connection->next, seq) < 0) {
        return not_mine(offer);
    }
    offer.skip(from);
    more(offer, {.bytes = offer.bytes.size() + 1,
                 .may_be_none = true,
                 .is_guess = true,
                 .is_none_at_end = is_none_at_end});
}

ByteView ConnectionTable::with_line_before(std::uint64_t digest, std::uint32_t seq, ByteView bytes,
                                           MutableBytes scratch) noexcept {
    const ConnectionIndex index = lines_.find(digest);
    if (index == kNoConnection || lines_[index].held == kNoLine) {
        return bytes;
    }
    const HeldHead& held = held_of(lines_[index]);
    const std::size_t before = seq - lines_[index].next;
    if (held.is_guess == 0 || before != held.in_order()) {
        return bytes;
    }
    const std::size_t size = HeldBytes{pool_, lines_[index].held}.copy(scratch);
    const ByteView fits = bytes.first(std::min(bytes.size(), scratch.size() - size));
    std::copy(fits.begin(), fits.end(), scratch.begin() + static_cast<std::ptrdiff_t>(size));
    return ByteView{scratch}.first(size + fits.size());
}

void ConnectionTable::not_mine(StreamOffer& offer) noexcept {
    const ByteView bytes = offer.bytes;
    Connection* connection = of(offer);
    const std::int64_t ahead =
        connection == nullptr ? 0 : sequence_distance(connection->next, offer.seq);
    // Bytes behind `next`, or judged, are looked at in their order.
    const std::size_t none =
        offer.kind == Offered::Resync ? std::min(bytes.size(), offer.may_begin) : bytes.size();
    offer.kind = Offered::Nothing;
    offer.take_off(ahead < 0 ? std::min(none, static_cast<std::size_t>(-ahead)) : none);
    if (connection == nullptr || ahead < 0 ||
        (ahead > 0 && connection->phase != StreamPhase::Lost)) {
        return;
    }
    const bool is_searched = connection->phase == StreamPhase::Lost && !goes_unread_at_doubt();
    if (connection->judged.empty() && connection->held == kNoLine && ahead == 0 && !is_searched) {
        // Nothing is known but where it began.
        remove(offer.connection_, ConnectionEvent::NotRead);
        offer.connection_ = kNoConnection;
        return;
    }
    if (goes_unread_at_doubt()) {
        stop_reading(offer.connection_, UnreadReason::Other);
        return;
    }
    if (connection->held != kNoLine) {
        end_half_head(offer.connection_);
    }
    connection->phase = StreamPhase::Lost;
    begin_unit_at(offer.connection_, offer.seq + static_cast<std::uint32_t>(bytes.size()));
    regroup(offer.connection_);
}

void ConnectionTable::go_unread(StreamOffer& offer, UnreadReason reason) noexcept {
    if (offer.connection_ != kNoConnection || open(offer, offer.seq)) {
        stop_reading(offer.connection_, reason);
    }
    refuse(offer, RefusedWhy::Unreadable);
}

void ConnectionTable::end_reading(const StreamOffer& offer) noexcept {
    if (offer.connection_ != kNoConnection) {
        stop_reading(offer.connection_, UnreadReason::Ended);
    }
}

void ConnectionTable::note_protocol(const StreamOffer& offer, UnreadProtocol protocol) noexcept {
    if (Connection* const connection = of(offer)) {
        connection->protocol = protocol;
    }
}

void ConnectionTable::end_at(StreamOffer& offer, std::uint32_t fin) noexcept {
    Connection* const connection = of(offer);
    if (connection == nullptr || offer.kind == Offered::Refused) {
        return;
    }
    const bool was_given_up = connection->phase == StreamPhase::Forgotten;
    const bool is_half =
        connection->held != kNoLine &&
        connection->next + static_cast<std::uint32_t>(held_of(*connection).in_order()) == fin &&
        connection->next != fin;
    const bool is_none =
        is_half && held_of(*connection).is_guess != 0 && held_of(*connection).is_none_at_end != 0;
    if (was_given_up || (is_half && !is_none)) {
        refuse(offer, RefusedWhy::Unreadable);
    }
}

void ConnectionTable::settle(std::uint64_t digest, std::uint32_t from, std::uint32_t to,
                             StickyVerdict verdict) noexcept {
    const ConnectionIndex index = lines_.find(digest);
    if (index != kNoConnection) {
        Connection& connection = lines_[index];
        begin_change(digest, index);
        connection.judged.paint(verdict, from, to, connection.next);
        regroup(index);
        change_.end();
    }
}

StickyVerdict ConnectionTable::verdict_of(std::uint64_t digest, std::uint32_t from,
                                          std::uint32_t to) const noexcept {
    const ConnectionIndex index = lines_.find(digest);
    return index == kNoConnection ? StickyVerdict::Unjudged
                                  : lines_[index].judged.strictest(from, to, lines_[index].next);
}

}  // namespace sluice
