#include "lib/bucket/meter/connection_segment.hpp"

namespace sluice {
namespace {

constexpr unsigned kInPlace = 2;  // bits of fins_ behind those of FINs that were seen
constexpr unsigned kBothInPlace = 3U << kInPlace;

}  // namespace

void ConnectionSequence::begin(const ConnectionStart& start) noexcept {
    *this = {};
    const unsigned end = start.from & 1U;
    learn(end, start.seq + 1);
    state_ = static_cast<std::uint8_t>(end);
}

// Data of the SYN itself (RFC 7413), which the server may acknowledge with it or not.
void ConnectionSequence::note_fast_open(const ConnectionSegment& segment) noexcept {
    const unsigned end = segment.from & 1U;
    const bool is_its = end == opener() && !knows(end ^ 1U) && segment.seq + 1 == ways_[end].acked;
    if (is_its && distance(ways_[end].highest, segment.seq + 1 + segment.payload) > 0) {
        ways_[end].highest = segment.seq + 1 + segment.payload;
    }
}

void ConnectionSequence::note_taken(const ConnectionSegment& segment) noexcept {
    const bool is_answer = segment.from_inside && !segment.syn && (segment.from & 1U) != opener();
    if (is_answer && distance(ways_[opener()].acked, segment.ack) > 0) {
        state_ |= kTaken;
    }
}

// Bytes that a receiver acknowledges have reached it, whether or not they have passed here.
void ConnectionSequence::note_ack(unsigned other, std::uint32_t ack) noexcept {
    Way& way = ways_[other];
    if (distance(way.acked, ack) > 0) {
        way.acked = ack;
        way.next = distance(way.next, ack) > 0 ? ack : way.next;
        way.highest = distance(way.highest, ack) > 0 ? ack : way.highest;
    }
    note_fin(other);
}

// The number of a FIN is the one before the highest.
void ConnectionSequence::note_fin(unsigned end) noexcept {
    Way& way = ways_[end];
    if ((fins_ & bit_of(end)) != 0 && distance(way.next, way.highest) <= 1) {
        way.next = way.highest;
        fins_ |= bit_of(end + kInPlace);
    }
}

void ConnectionSequence::note_bytes(unsigned end, const ConnectionSegment& segment) noexcept {
    if ((fins_ & bit_of(end + kInPlace)) != 0) {
        return;
    }
    Way& way = ways_[end];
    const std::uint32_t behind = segment.seq + segment.payload + (segment.fin ? 1U : 0U);
    if (distance(way.highest, behind) > 0) {
        way.highest = behind;
        fins_ &= static_cast<std::uint8_t>(~bit_of(end));  // that was not its last byte
    }
    if (segment.fin && behind == way.highest) {
        fins_ |= bit_of(end);
    }
    const bool joins = distance(segment.seq, way.next) >= 0;
    if (joins && distance(way.next, behind) > 0) {
        way.next = behind;
    }
    note_fin(end);
}

bool ConnectionSequence::answers(const ConnectionSegment& segment) const noexcept {
    const Way& client = ways_[segment.from ^ 1U];
    return segment.has_ack && distance(client.acked, segment.ack) >= 0 &&
           distance(segment.ack, client.highest) >= 0;
}

bool ConnectionSequence::is_repeated(const ConnectionSegment& segment) const noexcept {
    const unsigned end = segment.from & 1U;
    const std::int32_t behind = distance(segment.seq + 1, ways_[end].highest);
    return knows(end) && behind >= 0 && behind <= kMostBehind;
}

bool ConnectionSequence::is_in_window(unsigned end, std::uint32_t seq) const noexcept {
    const std::int32_t ahead = distance(ways_[end].acked, seq);
    return ahead >= -kMostBehind && ahead <= kMostAhead;
}

bool ConnectionSequence::is_plausible(const ConnectionSegment& segment) const noexcept {
    const unsigned end = segment.from & 1U;
    const Way& other = ways_[end ^ 1U];
    return is_in_window(end, segment.seq) &&
           (!knows(end ^ 1U) ||
            (segment.has_ack && distance(other.acked, segment.ack) >= -kMostBehind &&
             distance(segment.ack, other.highest) >= 0));
}

bool ConnectionSequence::completes(ConnectionEnd from, std::uint32_t seq,
                                   std::uint32_t ack) const noexcept {
    const unsigned end = from & 1U;
    const Way& other = ways_[end ^ 1U];
    return end == opener() && knows(end ^ 1U) && is_in_window(end, seq) &&
           distance(other.acked, ack) >= 0 && distance(ack, other.highest) >= 0;
}

// Bytes at the very number that the end inside expects, whose acknowledgment is older than blind
// senders are let through with: a receiver that has had a wide window takes them (RFC 5961, 5.2).
bool ConnectionSequence::is_late_at_next(const ConnectionSegment& segment) const noexcept {
    const unsigned end = segment.from & 1U;
    const Way& way = ways_[end];
    const std::int32_t ahead = distance(ways_[end ^ 1U].acked, segment.ack);
    return segment.has_ack && knows(end ^ 1U) && ahead < -kMostBehind && ahead >= -kWidestWindow &&
           distance(segment.seq, way.next) >= 0 &&
           distance(way.acked, segment.seq + segment.payload + (segment.fin ? 1U : 0U)) > 0;
}

// The end inside may have taken bytes that it has not acknowledged, or may have dropped them: what
// it expects it says itself. Where only one direction comes by it never does.
ConnectionSequence::Seen ConnectionSequence::add_rst(
    const ConnectionSegment& segment) const noexcept {
    const unsigned end = segment.from & 1U;
    const Way& way = ways_[end];
    if (!knows(end)) {
        return answers(segment) ? Seen::Reset : Seen::Ignored;
    }
    if (segment.from_inside || segment.is_made_here) {
        return segment.seq == way.next || segment.seq == way.acked ? Seen::Reset : Seen::Ignored;
    }
    const bool is_answered = knows(end ^ 1U);
    if (segment.seq != (is_answered ? way.acked : way.next)) {
        return Seen::Ignored;
    }
    const bool is_half_open =
        is_answered && end == opener() && (state_ & (kEstablished | kTaken)) == 0;
    if ((state_ & kUncertain) != 0 || (segment.is_stamped && is_half_open)) {
        return Seen::DoubtedForLonger;
    }
    return (is_answered ? way.acked : way.highest) == way.next ? Seen::Reset : Seen::Doubted;
}

// Nothing else follows from it.
ConnectionSequence::Seen ConnectionSequence::add_uncertain(
    const ConnectionSegment& segment) noexcept {
    const unsigned end = segment.from & 1U;
    const std::uint32_t behind = segment.seq + segment.payload + (segment.fin ? 1U : 0U);
    if (segment.rst || segment.syn || segment.from_inside || !knows(end) ||
        distance(ways_[end].acked, behind) <= 0 ||
        !(is_plausible(segment) || is_late_at_next(segment))) {
        return Seen::Ignored;
    }
    state_ |= kUncertain;
    return Seen::Uncertain;
}

ConnectionSequence::Seen ConnectionSequence::add(const ConnectionSegment& segment) noexcept {
    const unsigned end = segment.from & 1U;
    if (segment.is_uncertain) {
        return add_uncertain(segment);
    }
    if (segment.rst && segment.is_tracked) {
        return segment.ends ? Seen::Reset : Seen::Ignored;
    }
    if (segment.rst) {
        return takes_restart(segment) ? Seen::Reset : add_rst(segment);
    }
    if (takes_restart(segment) && segment.syn && !is_repeated(segment)) {
        begin({.seq = restart_ - 1, .from = static_cast<ConnectionEnd>(end ^ 1U)});
        learn(end, segment.seq + 1);
        return Seen::Restarted;
    }
    if (segment.syn && !segment.has_ack) {
        note_fast_open(segment);
        return Seen::Ignored;
    }
    if (!knows(end)) {
        if (!answers(segment)) {
            return Seen::Ignored;
        }
        learn(end, segment.seq + (segment.syn ? 1U : 0U));
    } else if (!segment.from_inside && !is_plausible(segment)) {
        return add_uncertain(segment);
    }
    if (segment.has_ack && knows(end ^ 1U)) {
        note_taken(segment);
        note_ack(end ^ 1U, segment.ack);
    }
    if (!segment.syn) {
        note_bytes(end, segment);
    }
    return (fins_ & kBothInPlace) == kBothInPlace ? Seen::Finished : Seen::Followed;
}

}  // namespace sluice
