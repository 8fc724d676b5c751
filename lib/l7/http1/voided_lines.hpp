#pragma once
#include "lib/base/units.hpp"
#include "lib/l7/stream/kept_memory.hpp"
#include "lib/l7/stream/normalization.hpp"
#include "lib/l7/stream/source_shares.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Bytes of a stream, by their sequence numbers; one store writes them.
struct alignas(8) StreamRange {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

// Header lines that the box has taken out of clients' streams, so that what repeats their bytes is
// changed likewise. A connection has kMostLines of them that its server has not acknowledged, and a
// request with more is refused by whoever asks; so is one that finds no room. Where more
// connections meet in a set than it has places, one goes:
//
//   its server has acknowledged all of its lines     it is missed by nobody
//   its source has at least two more than the        the longest silent of these; nothing repeats
//   newcomer's, and most in the set                  the lines it has lost
//   else                                             the newcomer has no room
//
// One per worker.
class VoidedLines {
public:
    static constexpr std::size_t kMostLines = Normalization::kMostLines;
    static constexpr std::size_t kConnections = 1024;
    static constexpr std::size_t kWays = 4;

    // In memory that may outlive the process take_over() follows.
    explicit VoidedLines(KeptMemory& memory = no_kept_memory())
        : memory_{memory.take(kSets * sizeof(Set))}, sets_{static_cast<Set*>(memory_.data())} {}
    // Bytes of it that outlive the process.
    [[nodiscard]] static constexpr std::size_t kept_of() noexcept {
        return KeptMemory::taken_for(kSets * sizeof(Set));
    }
    void take_over() noexcept;

    // True until the first line.
    [[nodiscard]] bool empty() const noexcept { return !has_any_; }

    struct Sender {
        std::uint64_t connection = 0;
        SourceId source = 0;
    };
    // `acknowledged`: all before it the server has. False: there is no room, and nothing is kept.
    [[nodiscard]] bool add(const Sender& sender, StreamRange line, std::uint32_t acknowledged,
                           Instant now) noexcept;
    // Notes what of these bytes lies in such lines, by its place in them; what the server has
    // acknowledged makes room. False: they may repeat lines that were lost.
    [[nodiscard]] bool mark(std::uint64_t connection, StreamRange bytes, std::uint32_t acknowledged,
                            Normalization& change) noexcept;
    // Connections that have lost their lines to those of other sources.
    [[nodiscard]] std::uint64_t evicted() const noexcept { return evicted_; }

private:
    struct Entry {
        std::uint64_t connection;  // 0: free
        std::uint32_t touched;     // in ticks
        std::uint32_t count;
        std::array<StreamRange, kMostLines> lines;
        SourceId source;
        std::uint32_t lost_until;  // of one that has lost its lines: where the last of them ended
    };
    static constexpr std::size_t kSets = kConnections / kWays;
    // A set has kWays places for connections, and behind them as many for those that lost theirs.
    using Set = std::array<Entry, 2 * kWays>;
    static constexpr std::size_t kSources = 2 * kConnections;

    [[nodiscard]] Set& set_of(std::uint64_t connection) const noexcept {
        return sets_[connection % kSets];
    }
    [[nodiscard]] static std::span<Entry> places(Set& set) noexcept {
        return std::span{set}.first(kWays);
    }
    [[nodiscard]] static std::span<Entry> losers(Set& set) noexcept {
        return std::span{set}.last(kWays);
    }
    // Connections of a source that have a place, and of those that share its number.
    [[nodiscard]] std::uint32_t& places_of(SourceId source) noexcept {
        return by_source_[source % kSources];
    }
    [[nodiscard]] static Entry* find(std::span<Entry> among, std::uint64_t connection) noexcept;
    [[nodiscard]] static Entry* free_one(std::span<Entry> among, std::uint32_t ticks) noexcept;
    [[nodiscard]] Entry* make(const Sender& sender, std::uint32_t ticks) noexcept;
    [[nodiscard]] Entry* evict_for(const Sender& sender, std::uint32_t ticks) noexcept;
    void give_up(Entry& entry) noexcept;
    static void drop_acknowledged(Entry& entry, std::uint32_t acknowledged) noexcept;

    LineMemory memory_;
    Set* sets_;
    std::array<std::uint32_t, kSources> by_source_{};
    bool has_any_ = false;
    std::uint64_t evicted_ = 0;
};

}  // namespace sluice
