#include "lib/l7/proxy/proxy_clients.hpp"

#include "lib/l7/stream/tick.hpp"
#include "lib/l7/stream/track/connection_tracker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace sluice {
namespace {

// A connection has the places of two rows. With twice as many places as connections, a row is full
// before the table is once in billions.
constexpr std::size_t kWays = 8;
constexpr std::uint32_t kGuard = ticks_of(TrackBudget{}.idle_guard) + 1;  // no tick is whole

std::size_t rows_for(std::size_t connections) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2 * connections / kWays, 2));
}

// Two halves of a digest, each of which is one.
std::array<std::uint64_t, 2> row_numbers(std::uint64_t connection) noexcept {
    return {connection, connection >> 32 | connection << 32};
}

// How much more than others an entry may be given away; 0: not at all.
std::uint32_t worth_of_room(bool is_free, bool has_ended, std::uint32_t silence) noexcept {
    if (is_free) {
        return UINT32_MAX;
    }
    return has_ended ? UINT32_MAX - 1 : silence > kGuard ? silence : 0;
}

}  // namespace

ProxyClients::ProxyClients(std::size_t connections, KeptMemory& memory)
    : rows_{rows_for(connections)},
      memory_{memory.take(memory_of(connections))},
      entries_{static_cast<Entry*>(memory_.data())},
      change_{memory} {}

std::uint64_t ProxyClients::memory_of(std::size_t connections) noexcept {
    return std::uint64_t{rows_for(connections)} * kWays * sizeof(Entry);
}

bool ProxyClients::can_be(const Entry& entry) noexcept {
    std::uint8_t version = 0;
    std::memcpy(&version, &entry.client.version, sizeof(version));
    return version == static_cast<std::uint8_t>(IpVersion::V4) ||
           version == static_cast<std::uint8_t>(IpVersion::V6);
}

void ProxyClients::take_over() noexcept {
    const std::size_t count = rows_ * kWays;
    const ConnectionIndex torn = change_.open_at(count);
    if (torn != kNoConnection) {
        change_.put_back(&entries_[torn]);
    }
    change_.end();
    for (Entry& entry : std::span<Entry>{entries_, count}) {
        entry.connection = can_be(entry) ? entry.connection : 0;
        has_any_ = has_any_ || entry.connection != 0;
    }
}

ProxyClients::Entry* ProxyClients::row(std::uint64_t number) const noexcept {
    return entries_ + (number & (rows_ - 1)) * kWays;
}

ProxyClients::Entry* ProxyClients::known(std::uint64_t connection) const noexcept {
    if (!has_any_ || connection == 0) {
        return nullptr;
    }
    for (const std::uint64_t number : row_numbers(connection)) {
        const std::span<Entry> places{row(number), kWays};
        const auto found = std::find_if(places.begin(), places.end(), [&](const Entry& entry) {
            return entry.connection == connection;
        });
        if (found != places.end()) {
            return &*found;
        }
    }
    return nullptr;
}

ProxyClients::Entry* ProxyClients::room_for(std::uint64_t connection,
                                            std::uint32_t ticks) const noexcept {
    Entry* best = nullptr;
    std::uint32_t most = 0;
    for (const std::uint64_t number : row_numbers(connection)) {
        for (Entry& entry : std::span<Entry>{row(number), kWays}) {
            const std::uint32_t worth =
                worth_of_room(entry.connection == 0, entry.has_ended != 0, ticks - entry.touched);
            best = worth > most ? &entry : best;
            most = std::max(most, worth);
        }
    }
    return best;
}

VersionedAddress ProxyClients::find(std::uint64_t connection, Instant now) noexcept {
    Entry* const entry = known(connection);
    if (entry == nullptr) {
        return {};
    }
    entry->touched = ticks_of(now.time_since_epoch());
    return entry->client;
}

bool ProxyClients::add(std::uint64_t connection, const VersionedAddress& client,
                       Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    Entry* const before = known(connection);
    Entry* const entry = before != nullptr ? before : room_for(connection, ticks);
    if (entry == nullptr || connection == 0) {
        return false;
    }
    change_.begin(entry, entry->connection, static_cast<ConnectionIndex>(entry - entries_));
    *entry = {.connection = connection, .touched = ticks, .has_ended = 0, .client = client};
    change_.end();
    has_any_ = true;
    return true;
}

void ProxyClients::end(std::uint64_t connection) noexcept {
    if (Entry* const entry = known(connection)) {
        entry->has_ended = 1;
    }
}

}  // namespace sluice
