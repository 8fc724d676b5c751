#include "lib/units/voided_lines.hpp"

#include "lib/conn/tcp_segment.hpp"
#include "lib/conn/tick.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

// A connection that has been silent for longer is forgotten by its server.
constexpr std::uint32_t kSilence = ticks_of(std::chrono::minutes{15});

}  // namespace

void VoidedLines::take_over() noexcept {
    for (std::size_t at = 0; at < kConnections; ++at) {
        Entry& entry = entries_[at];
        entry.connection = entry.count <= kMostLines ? entry.connection : 0;
        entry.count = entry.count <= kMostLines ? entry.count : 0;
        has_any_ = has_any_ || entry.connection != 0;
    }
}

VoidedLines::Entry* VoidedLines::find(std::uint64_t connection) const noexcept {
    Entry* const first = entries_ + connection % (kConnections / kWays) * kWays;
    Entry* const end = first + kWays;
    Entry* const found = std::find_if(
        first, end, [&](const Entry& entry) { return entry.connection == connection; });
    return found == end ? nullptr : found;
}

// nullptr: all that it may take are of connections that live.
VoidedLines::Entry* VoidedLines::make(std::uint64_t connection, std::uint32_t ticks) noexcept {
    if (Entry* const known = find(connection)) {
        return known;
    }
    Entry* const first = entries_ + connection % (kConnections / kWays) * kWays;
    Entry* const end = first + kWays;
    Entry* const free = std::find_if(first, end, [&](const Entry& entry) {
        return entry.connection == 0 || ticks - entry.touched > kSilence;
    });
    if (free == end) {
        return nullptr;
    }
    free->count = 0;
    keep_store_order();
    free->connection = connection;
    free->touched = ticks;
    return free;
}

bool VoidedLines::add(std::uint64_t connection, StreamRange line, std::uint32_t acknowledged,
                      Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    Entry* const entry = make(connection, ticks);
    if (entry == nullptr) {
        return false;
    }
    const auto begin = entry->lines.begin();
    const auto end = std::remove_if(begin, begin + entry->count, [&](const StreamRange& known) {
        return sequence_distance(known.to, acknowledged) >= 0;
    });
    entry->count = static_cast<std::uint32_t>(end - begin);
    entry->touched = ticks;
    const bool is_known = std::any_of(begin, end, [&](const StreamRange& known) {
        return known.from == line.from && known.to == line.to;
    });
    if (is_known) {
        return true;  // its request is read again
    }
    if (entry->count == kMostLines) {
        return false;
    }
    entry->lines[entry->count] = line;
    keep_store_order();
    ++entry->count;
    has_any_ = true;
    return true;
}

void VoidedLines::mark(std::uint64_t connection, StreamRange bytes,
                       Normalization& change) const noexcept {
    const Entry* const entry = find(connection);
    if (entry == nullptr) {
        return;
    }
    const std::int64_t size = sequence_distance(bytes.from, bytes.to);
    for (std::uint32_t i = 0; i < entry->count; ++i) {
        const StreamRange& line = entry->lines[i];
        const std::int64_t begin =
            std::max<std::int64_t>(sequence_distance(bytes.from, line.from), 0);
        const std::int64_t end =
            std::min<std::int64_t>(sequence_distance(bytes.from, line.to), size);
        if (begin < end) {
            change.void_line({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
        }
    }
}

}  // namespace sluice
