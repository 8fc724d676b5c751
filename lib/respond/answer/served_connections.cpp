#include "lib/respond/answer/served_connections.hpp"

#include "lib/l7/stream/tick.hpp"
#include "lib/respond/answer/answer_bounds.hpp"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

std::size_t served_places(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(connections / ServedConnections::kWays, 1));
}

}  // namespace

bool ServedConnection::fits(std::uint32_t seq, std::uint32_t ack) const noexcept {
    const auto unacknowledged = static_cast<std::int32_t>(answers.sent() - ack);
    const auto place = static_cast<std::int32_t>(seq - received);
    return unacknowledged >= 0 && unacknowledged <= kServerInFlight && place >= -kReachBehind &&
           place <= kClientInFlight;
}

ServedConnections::ServedConnections(std::size_t connections)
    : memory_{served_places(connections) * kWays * sizeof(ServedConnection)},
      lines_{static_cast<ServedConnection*>(memory_.data())},
      mask_{served_places(connections) - 1} {}

ServedConnection* ServedConnections::find(std::uint64_t digest) const noexcept {
    ServedConnection* const lines = lines_of(digest);
    ServedConnection* const found = std::find_if(
        lines, lines + kWays, [&](const ServedConnection& line) { return line.digest == digest; });
    return found == lines + kWays ? nullptr : found;
}

ServedConnection& ServedConnections::add(std::uint64_t digest, Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    ServedConnection* line = find(digest);
    if (line == nullptr) {
        const auto silence = [&](const ServedConnection& other) {
            return other.digest == 0 ? UINT32_MAX : ticks - other.touched;
        };
        ServedConnection* const lines = lines_of(digest);
        line = std::max_element(lines, lines + kWays,
                                [&](const ServedConnection& one, const ServedConnection& two) {
                                    return silence(one) < silence(two);
                                });
    }
    *line = {.digest = digest, .touched = ticks};
    return *line;
}

void ServedConnections::touch(ServedConnection& connection, Instant now) noexcept {
    connection.touched = ticks_of(now.time_since_epoch());
}

}  // namespace sluice
