#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

// Streams that outlive the process: where the next head begins, or how far a body goes, verdicts,
// what segments were, and half heads.
namespace sluice {
namespace {

// No number lies further ahead of another one.
constexpr std::uint64_t kFurthest = std::uint64_t{1} << 31;
// A client that has had no answer sends the oldest of its bytes again, no sooner than that behind
// the first time (RFC 6298, 2.4).
constexpr Nanoseconds kSentAgain = std::chrono::seconds{1};

}  // namespace

bool ConnectionTable::goes_on(Connection& connection) noexcept {
    connection.is_inherited = true;
    connection.is_unheard = true;
    return connection.phase <= StreamPhase::Unread && connection.phase != StreamPhase::Begun &&
           connection.judged.recover(connection.next);
}

// Half heads whose bytes are there go on. The rest of another one is refused, as behind its
// time-out; ahead of a body nothing is missed until the receiver is seen to have it. The bytes of
// the connection that was being read may be half of what they were to become.
void ConnectionTable::take_over_held(ConnectionIndex torn) {
    std::vector<bool> used(pool_.size() + 1);
    used[kNoLine] = true;
    for (std::size_t at = 0; at < lines_.capacity(); ++at) {
        const auto index = static_cast<ConnectionIndex>(at);
        Connection& connection = lines_[index];
        if (connection.is_free() || connection.held == kNoLine) {
            continue;
        }
        const bool holds =
            connection.phase == StreamPhase::Head || connection.phase == StreamPhase::Framed;
        if (holds && index != torn && HeldBytes::recover(pool_, connection.held, used)) {
            continue;
        }
        connection.held = kNoLine;
        if (connection.phase == StreamPhase::Head) {
            connection.phase = StreamPhase::Forgotten;
        }
    }
    pool_.recover(used);
}

void ConnectionTable::take_over(Instant now, bool (*can_be)(const FramingState& framing) noexcept) {
    if (!change_.is_kept()) {
        return;
    }
    set_now(now);
    taken_over_ticks_ = ticks_;
    const ConnectionIndex seen = seen_change_.open_at(lines_.capacity());
    if (seen != kNoConnection) {
        seen_change_.put_back(&seen_[seen]);
    }
    seen_change_.end();
    const ConnectionIndex torn = change_.open_at(lines_.capacity());
    change_.undo(lines_);
    lines_.recover([&](Connection& line) {
        return goes_on(line) && (line.phase != StreamPhase::Framed || can_be(line.framing));
    });
    take_over_held(torn);
    take_over_framing(torn);
    take_over_groups();
}

// Lines of chunks are compared with what repeats them in this process too, also those of a
// connection that was being removed and is back.
void ConnectionTable::take_over_framing(ConnectionIndex torn) {
    if (torn != kNoConnection && !lines_[torn].is_free() && lines_[torn].has_framing) {
        framing_.take_back(torn, lines_[torn].next);
    }
    framing_.take_over([&](ConnectionIndex index) -> std::optional<std::uint32_t> {
        return lines_[index].is_free() ? std::nullopt : std::optional{lines_[index].next};
    });
    for (std::size_t at = 0; at < lines_.capacity(); ++at) {
        const auto index = static_cast<ConnectionIndex>(at);
        lines_[index].has_framing = !lines_[index].is_free() && framing_.has_any(index);
        beside_[index] = {};
    }
}

// The longest silent first, as they would stand in their lists.
void ConnectionTable::take_over_groups() {
    std::vector<ConnectionIndex> found;
    for (std::size_t at = 0; at < lines_.capacity(); ++at) {
        const auto index = static_cast<ConnectionIndex>(at);
        if (lines_[index].is_free() || !seen_[index].can_be()) {
            seen_[index].clear();
        }
        if (!lines_[index].is_free()) {
            found.push_back(index);
        }
    }
    std::sort(found.begin(), found.end(), [&](ConnectionIndex a, ConnectionIndex b) {
        return age_of(lines_[a]) > age_of(lines_[b]);
    });
    for (const ConnectionIndex index : found) {
        if (lines_[index].held != kNoLine) {
            lines_[index].touched = ticks_;  // nobody could go on with it meanwhile
        }
        enter(index, AgeGroup::Idle);
        if (lines_.size() > budget_.connections) {
            remove(index, ConnectionEvent::EvictedIdle);
            continue;
        }
        const SourceShares& half_heads = shares_of(AgeGroup::HalfHead);
        const bool has_room = !half_heads.full() && half_heads.count_of(members_[index].id) <
                                                        budget_.half_heads_per_source;
        if (lines_[index].held != kNoLine && !has_room) {
            forget_head(index, ConnectionEvent::EvictedHalfHead);
        } else {
            regroup(index);
        }
    }
    publish();
}

// Bytes may have passed while there was no box: the first ones to come may lie ahead of what was
// read because their receiver has those between, or because those were lost. They are not
// forwarded in the hope for the others. Its receiver knows: once it has spoken, its
// acknowledgement is the place where the stream goes on. Of one that says nothing here, its client
// knows: what it sends again is the oldest that it has had no acknowledgement of (RFC 6298, 5.4).
// True: that is all there is to the segment.
bool ConnectionTable::hears_again(StreamOffer& offer, Connection& connection) noexcept {
    const bool has_spoken = offer.acknowledged_ && !offer.is_word_old_;
    if (connection.phase != StreamPhase::Unread && !has_spoken &&
        missed_some(connection, offer.rest_seq_ - connection.next)) {
        if (!begins_with_oldest(offer)) {
            counters_.count(ConnectionEvent::Unheard);
            refuse(offer, RefusedWhy::Unheard);
            return true;
        }
        leave_gap(offer, connection);
        lose_track(offer, connection, offer.rest_seq_);
    }
    connection.is_unheard = false;
    return false;
}

// The client has sent nothing older since it sent this first, and sends it again. What is forwarded
// in any case is not sent again: there the first ones to come long enough behind the start stand.
bool ConnectionTable::begins_with_oldest(const StreamOffer& offer) noexcept {
    if (!offer.refusals_stand_) {
        return ticks_ - taken_over_ticks_ >= ticks_of(kSentAgain);
    }
    Beside& beside = beside_[offer.connection_];
    const auto now = static_cast<std::uint16_t>(ticks_ >> kAheadShift);
    if (beside.is_ahead_known && beside.number == offer.rest_seq_) {
        return static_cast<std::uint16_t>(now - beside.ahead_since) > ticks_of(kSentAgain) >>
               kAheadShift;
    }
    if (!beside.is_ahead_known || sequence_distance(beside.number, offer.rest_seq_) < 0) {
        beside.number = offer.rest_seq_;
        beside.is_ahead_known = true;
        beside.ahead_since = now;
    }
    return false;
}

// The segment goes on to its receiver, which may still lack the bytes before it: whatever came in
// their place, in any cut, the receiver would read together with the segment.
void ConnectionTable::leave_gap(const StreamOffer& offer, Connection& connection) noexcept {
    if (!goes_unread_at_doubt()) {
        gap_ends_[offer.connection_] = offer.rest_seq_;
        connection.has_gap = true;
    }
}

// Acknowledged bytes have passed, and these lie behind all that was read in order.
bool ConnectionTable::misses_some(const TcpSegment& segment,
                                  const Connection& connection) noexcept {
    if (!segment.acknowledged || connection.phase == StreamPhase::UntilClose ||
        connection.phase == StreamPhase::Unread || connection.phase == StreamPhase::Lost ||
        connection.phase == StreamPhase::Forgotten || connection.phase == StreamPhase::Untaken) {
        return false;
    }
    std::uint64_t reached = connection.held == kNoLine ? 0 : held_of(connection).in_order();
    if (connection.phase == StreamPhase::LongBody) {
        std::memcpy(&reached, connection.framing.data(), sizeof(reached));
    }
    return sequence_distance(connection.next, *segment.acknowledged) >
           static_cast<std::int64_t>(std::min(reached, kFurthest));
}

}  // namespace sluice
