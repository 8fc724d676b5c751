#include "lib/l7/http1/voided_lines.hpp"

#include "lib/l7/stream/tcp_segment.hpp"
#include "lib/l7/stream/tick.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sluice {
namespace {

// A connection that has been silent for longer is forgotten by its server.
constexpr std::uint32_t kSilence = ticks_of(std::chrono::minutes{15});

}  // namespace

void VoidedLines::take_over() noexcept {
    for (std::size_t at = 0; at < kSets; ++at) {
        for (Entry& entry : sets_[at]) {
            entry.connection = entry.count <= kMostLines ? entry.connection : 0;
            entry.count = entry.count <= kMostLines ? entry.count : 0;
            has_any_ = has_any_ || entry.connection != 0;
        }
        for (const Entry& entry : places(sets_[at])) {
            places_of(entry.source) += entry.connection != 0 ? 1U : 0U;
        }
    }
}

VoidedLines::Entry* VoidedLines::find(std::span<Entry> among, std::uint64_t connection) noexcept {
    const auto found = std::ranges::find(among, connection, &Entry::connection);
    return found == among.end() ? nullptr : &*found;
}

VoidedLines::Entry* VoidedLines::free_one(std::span<Entry> among, std::uint32_t ticks) noexcept {
    const auto found = std::ranges::find_if(among, [&](const Entry& entry) {
        return entry.connection == 0 || ticks - entry.touched > kSilence;
    });
    return found == among.end() ? nullptr : &*found;
}

void VoidedLines::give_up(Entry& entry) noexcept {
    if (entry.connection != 0) {
        --places_of(entry.source);
        entry.connection = 0;
        keep_store_order();
    }
}

// The place of a connection whose source has most of all in the set, and so many more than the
// newcomer's that this one does not become it. nullptr: there is none.
VoidedLines::Entry* VoidedLines::evict_for(const Sender& sender, std::uint32_t ticks) noexcept {
    Set& set = set_of(sender.connection);
    const auto rank = [&](const Entry& entry) {
        return std::pair{places_of(entry.source), ticks - entry.touched};
    };
    Entry& goes = *std::ranges::max_element(places(set), {}, rank);
    // One that loses its lines again has one end of all that it has lost.
    Entry* const known = find(losers(set), goes.connection);
    Entry* const loser = known != nullptr ? known : free_one(losers(set), ticks);
    if (loser == nullptr || places_of(goes.source) < places_of(sender.source) + 2) {
        return nullptr;
    }
    std::uint32_t lost_until = known != nullptr ? known->lost_until : goes.lines[0].to;
    for (const StreamRange& line : std::span{goes.lines}.first(goes.count)) {
        lost_until = sequence_distance(lost_until, line.to) > 0 ? line.to : lost_until;
    }
    if (known == nullptr) {
        loser->connection = 0;
        keep_store_order();
        loser->count = 0;
    }
    loser->touched = ticks;
    loser->lost_until = lost_until;
    keep_store_order();
    loser->connection = goes.connection;
    keep_store_order();
    ++evicted_;
    return &goes;
}

// nullptr: all that it may take are of connections that live.
VoidedLines::Entry* VoidedLines::make(const Sender& sender, std::uint32_t ticks) noexcept {
    const std::span<Entry> all = places(set_of(sender.connection));
    if (Entry* const known = find(all, sender.connection)) {
        return known;
    }
    Entry* entry = free_one(all, ticks);
    entry = entry != nullptr ? entry : evict_for(sender, ticks);
    if (entry == nullptr) {
        return nullptr;
    }
    give_up(*entry);
    entry->count = 0;
    entry->source = sender.source;
    entry->touched = ticks;
    keep_store_order();
    entry->connection = sender.connection;
    ++places_of(sender.source);
    return entry;
}

void VoidedLines::drop_acknowledged(Entry& entry, std::uint32_t acknowledged) noexcept {
    // One after the other, so that a kill leaves lines that were there.
    for (std::uint32_t at = entry.count; at-- > 0;) {
        if (sequence_distance(entry.lines[at].to, acknowledged) >= 0) {
            entry.lines[at] = entry.lines[entry.count - 1];
            keep_store_order();
            --entry.count;
            keep_store_order();
        }
    }
}

bool VoidedLines::add(const Sender& sender, StreamRange line, std::uint32_t acknowledged,
                      Instant now) noexcept {
    const std::uint32_t ticks = ticks_of(now.time_since_epoch());
    Entry* const entry = make(sender, ticks);
    if (entry == nullptr) {
        return false;
    }
    drop_acknowledged(*entry, acknowledged);
    entry->touched = ticks;
    const auto begin = entry->lines.begin();
    const bool is_known = std::any_of(begin, begin + entry->count, [&](const StreamRange& known) {
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

bool VoidedLines::mark(std::uint64_t connection, StreamRange bytes, std::uint32_t acknowledged,
                       Normalization& change) noexcept {
    Set& set = set_of(connection);
    if (Entry* const loser = find(losers(set), connection)) {
        if (sequence_distance(loser->lost_until, acknowledged) >= 0) {
            loser->connection = 0;
        } else if (sequence_distance(bytes.from, loser->lost_until) > 0) {
            return false;
        }
    }
    Entry* const entry = find(places(set), connection);
    if (entry == nullptr) {
        return true;
    }
    drop_acknowledged(*entry, acknowledged);
    if (entry->count == 0) {
        give_up(*entry);
        return true;
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
    return true;
}

}  // namespace sluice
