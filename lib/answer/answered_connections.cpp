#include "lib/answer/answered_connections.hpp"

#include "lib/conn/tick.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace sluice {
namespace {

std::size_t places_for(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(connections / AnsweredConnections::kWays, 1));
}

}  // namespace

AnsweredConnections::AnsweredConnections(std::size_t connections)
    : memory_{places_for(connections) * kWays * sizeof(AnsweredConnection)},
      lines_{static_cast<AnsweredConnection*>(memory_.data())},
      mask_{places_for(connections) - 1} {
    for (std::size_t i = 0; i < (mask_ + 1) * kWays; ++i) {
        new (&lines_[i]) AnsweredConnection{};
    }
}

bool AnsweredConnections::is_free(const AnsweredConnection& line, std::uint32_t ticks) noexcept {
    const std::uint32_t kept = ticks_of(line.has_finished ? kAfterFin : kSilence);
    return line.digest == 0 || ticks - line.touched > kept;
}

bool AnsweredConnections::may_have_any(Instant now) const noexcept {
    return has_any_ && ticks_of(now.time_since_epoch()) - latest_ <= ticks_of(kSilence);
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

AnsweredConnection* AnsweredConnections::add(std::uint64_t digest, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    AnsweredConnection* line = find(digest, now);
    for (std::size_t way = 0; line == nullptr && way < kWays; ++way) {
        AnsweredConnection& other = lines_of(digest)[way];
        line = is_free(other, ticks) ? &other : nullptr;
    }
    if (line != nullptr) {
        *line = {.digest = digest, .touched = ticks};
        latest_ = ticks;
        has_any_ = true;
    }
    return line;
}

}  // namespace sluice
