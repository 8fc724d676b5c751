#include "lib/respond/answer/answered_connections.hpp"

#include "lib/l7/stream/tick.hpp"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

std::size_t places_for(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(connections / AnsweredConnections::kWays, 1));
}

}  // namespace

void AnsweredConnection::begin_wait(std::uint32_t ack, Instant now) noexcept {
    waits = true;
    begin = ticks_of(now.time_since_epoch());
    end = begin;
    acked = ack;
}

void AnsweredConnection::note_progress(std::uint32_t ack, Instant now) noexcept {
    if (static_cast<std::int32_t>(ack - acked) > 0) {
        acked = ack;
        end = ticks_of(now.time_since_epoch());
    }
}

Nanoseconds AnsweredConnection::waited(Instant now) const noexcept {
    return time_of(ticks_of(now.time_since_epoch()) - begin);
}

bool AnsweredConnection::is_overdue(Instant now) const noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    return ticks - end > ticks_of(kAnswerStall) || ticks - begin > ticks_of(kLongestAnswerWait);
}

AnsweredConnections::AnsweredConnections(std::size_t connections)
    : memory_{places_for(connections) * kWays * sizeof(AnsweredConnection)},
      lines_{static_cast<AnsweredConnection*>(memory_.data())},
      mask_{places_for(connections) - 1} {}

bool AnsweredConnections::is_free(const AnsweredConnection& line, std::uint32_t ticks) noexcept {
    const std::uint32_t kept = ticks_of(line.has_finished ? kAfterFin
                                        : line.waits      ? kLongestAnswerWait
                                                          : kSilence);
    return line.digest == 0 || ticks - line.touched > kept;
}

bool AnsweredConnections::may_have_any(Instant now) const noexcept {
    return has_any_ && ticks_of(now.time_since_epoch()) - latest_ <= ticks_of(kSilence);
}

bool AnsweredConnections::may_have_displaced(Instant now) const noexcept {
    return has_displaced_ && ticks_of(now.time_since_epoch()) - displaced_ <= ticks_of(kSilence);
}

AnsweredConnection* AnsweredConnections::find(std::uint64_t digest, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    AnsweredConnection* const lines = lines_of(digest);
    for (std::size_t way = 0; way < kWays; ++way) {
        AnsweredConnection& line = lines[way];
        if (line.digest == digest && !is_free(line, ticks)) {
            line.touched = ticks;
            latest_ = ticks;
            return &line;
        }
    }
    return nullptr;
}

AnsweredConnections::Added AnsweredConnections::add(std::uint64_t digest, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    AnsweredConnection* line = find(digest, now);
    bool displaces = false;
    if (line == nullptr) {
        const auto silence = [&](const AnsweredConnection& other) {
            return is_free(other, ticks) ? UINT32_MAX : ticks - other.touched;
        };
        line = std::max_element(lines_of(digest), lines_of(digest) + kWays,
                                [&](const AnsweredConnection& one, const AnsweredConnection& two) {
                                    return silence(one) < silence(two);
                                });
        displaces = !is_free(*line, ticks);
        has_displaced_ |= displaces;
        displaced_ = displaces ? ticks : displaced_;
    }
    *line = {.digest = digest, .touched = ticks};
    latest_ = ticks;
    has_any_ = true;
    return {*line, displaces};
}

}  // namespace sluice
