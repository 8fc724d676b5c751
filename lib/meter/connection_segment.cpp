#include "lib/meter/connection_segment.hpp"

namespace sluice {

// What a receiver acknowledges has reached it, whether or not it has passed here.
void ConnectionSequence::note_ack(unsigned other, std::uint32_t ack) noexcept {
    Way& way = ways_[other];
    if (distance(way.acked, ack) > 0) {
        way.acked = ack;
        way.next = distance(way.next, ack) > 0 ? ack : way.next;
    }
}

void ConnectionSequence::note_bytes(unsigned end, const ConnectionSegment& segment) noexcept {
    Way& way = ways_[end];
    const std::uint32_t behind = segment.seq + segment.payload;
    const bool joins = distance(segment.seq, way.next) >= 0;
    if (joins && distance(way.next, behind) > 0) {
        way.next = behind;
    }
    if (segment.fin && behind == way.next) {
        way.next = behind + 1;
        finished_ |= static_cast<std::uint8_t>(1U << end);
    }
}

bool ConnectionSequence::answers(const ConnectionSegment& segment) const noexcept {
    const Way& client = ways_[segment.from ^ 1U];
    return segment.has_ack && (segment.ack == client.acked || segment.ack == client.next);
}

ConnectionSequence::Closed ConnectionSequence::add(const ConnectionSegment& segment) noexcept {
    const unsigned end = segment.from & 1U;
    if (takes_restart(segment) && segment.rst) {
        return Closed::Reset;
    }
    if (takes_restart(segment) && segment.syn) {
        begin({.seq = restart_ - 1, .from = static_cast<ConnectionEnd>(end ^ 1U)});
    }
    if (!knows(end)) {
        if (!answers(segment)) {
            return Closed::No;
        }
        if (segment.rst) {
            return Closed::Reset;
        }
        learn(end, segment.seq + (segment.syn ? 1U : 0U));
    }
    const Way& way = ways_[end];
    if (segment.rst) {
        return segment.seq == way.next || segment.seq == way.acked ? Closed::Reset : Closed::No;
    }
    if (segment.has_ack && knows(end ^ 1U)) {
        note_ack(end ^ 1U, segment.ack);
    }
    if (!segment.syn) {
        note_bytes(end, segment);
    }
    return finished_ == 3 ? Closed::Finished : Closed::No;
}

}  // namespace sluice
