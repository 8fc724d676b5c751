#include "lib/conn/connection_table.hpp"
#include "lib/conn/tick.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

// Streams that outlive the process: where the next head begins, or how far a body goes, verdicts,
// and what segments were. What was held of half heads does not.
namespace sluice {
namespace {

// No number lies further ahead of another one.
constexpr std::uint64_t kFurthest = std::uint64_t{1} << 31;

}  // namespace

KeptMemory& ConnectionTable::no_memory() noexcept {
    static KeptMemory none;
    return none;
}

// The rest of a half head is refused, as behind its time-out. Ahead of a body nothing is missed
// until the receiver is seen to have it.
bool ConnectionTable::goes_on(Connection& connection) noexcept {
    const bool can_be =
        connection.phase <= StreamPhase::Unread && connection.phase != StreamPhase::Begun &&
        connection.judged.recover(connection.next) && connection.repeated <= RepeatedParts::Open;
    if (connection.held != kNoLine && connection.phase == StreamPhase::Head) {
        connection.phase = StreamPhase::Forgotten;
    }
    connection.held = kNoLine;
    connection.is_inherited = true;
    return can_be;
}

void ConnectionTable::take_over(Instant now, bool (*can_be)(const FramingState& framing) noexcept) {
    if (!change_.is_kept()) {
        return;
    }
    set_now(now);
    const ConnectionIndex seen = seen_change_.open_at(lines_.capacity());
    if (seen != kNoConnection) {
        seen_change_.put_back(&seen_[seen]);
    }
    seen_change_.end();
    change_.undo(lines_);
    lines_.recover([&](Connection& line) {
        return goes_on(line) && (line.phase != StreamPhase::Framed || can_be(line.framing));
    });
    pool_.recover({});
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
        if (lines_.size() > budget_.connections) {
            lines_.remove(index);
            continue;
        }
        enter(index, AgeGroup::Idle);
        regroup(index);
    }
    publish();
}

// What its receiver has acknowledged has passed, and lies behind what was read in order.
bool ConnectionTable::misses_some(const TcpSegment& segment,
                                  const Connection& connection) noexcept {
    if (!connection.is_inherited || !segment.knows_acknowledged ||
        connection.phase == StreamPhase::UntilClose || connection.phase == StreamPhase::Unread) {
        return false;
    }
    std::uint64_t reached = connection.held == kNoLine ? 0 : held_of(connection).in_order();
    if (connection.phase == StreamPhase::LongBody) {
        std::memcpy(&reached, connection.framing.data(), sizeof(reached));
    }
    return sequence_distance(connection.next, segment.acknowledged) >
           static_cast<std::int64_t>(std::min(reached, kFurthest));
}

}  // namespace sluice
