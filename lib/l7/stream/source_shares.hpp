#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/l7/stream/connection.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// A source, by its keyed hash: two of four billion may share a number, and so a share.
using SourceId = std::uint32_t;

// A connection's place among those of its source; one for each line of the table.
struct SourceMember {
    SourceId id = 0;           // whose connection it is
    std::uint32_t source = 0;  // SourceShares: the source's entry, and neighbours in it
    ConnectionIndex older = kNoConnection;
    ConnectionIndex newer = kNoConnection;
};

// The sources of connections of one kind, so that the source with most of them loses its oldest
// first:
//
//   sources by number of connections:   1: s s s   2: s   ...   most: s --> oldest .. newest
//
// Every step is constant time: a source moves to a neighbouring number with each connection, and
// the largest number with a source falls by one at most. Among sources of one number the one that
// has had it longest comes first. A connection is in one of several SourceShares over the same
// members at most.
class SourceShares {
public:
    // Room for so many connections, and for so many of one source. `members` have their number
    // already, and stay where they are.
    SourceShares(std::size_t connections, std::size_t per_source, std::span<SourceMember> members);
    // Bytes that it takes besides.
    [[nodiscard]] static std::size_t memory_of(std::size_t connections,
                                               std::size_t per_source) noexcept;

    // There is room, and the connection is in no share.
    void add(ConnectionIndex connection) noexcept;
    void remove(ConnectionIndex connection) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool full() const noexcept { return size_ >= sources_.size(); }
    [[nodiscard]] std::size_t count_of(SourceId source) const noexcept;
    // The oldest of this source; kNoConnection: it has none.
    [[nodiscard]] ConnectionIndex oldest_of(SourceId source) const noexcept;
    // The oldest of the source with most; kNoConnection: there is none.
    [[nodiscard]] ConnectionIndex oldest_of_most() const noexcept;
    // Prefetches what remove() of that one reads, but for its connection's own line, and the source
    // that has most behind it. Called after each removal it is always a removal ahead.
    ConnectionIndex prefetch_oldest_of_most() const noexcept {
        if (most_ == 0) {
            return kNoConnection;
        }
        const Source& source = sources_[by_count_[most_].first];
        prefetch0(&chains_[source.id & (chains_.size() - 1)]);
        prefetch0(&members_[source.oldest]);
        if (source.behind != kNoSource) {
            prefetch0(&sources_[source.behind]);
        }
        return source.oldest;
    }

private:
    using SourceIndex = std::uint32_t;
    static constexpr SourceIndex kNoSource = ~SourceIndex{0};

    struct Source {
        SourceId id = 0;
        std::uint32_t count = 0;
        SourceIndex in_chain = kNoSource;  // next of its hash chain, or of the free ones
        SourceIndex before = kNoSource;    // neighbours among those of its number
        SourceIndex behind = kNoSource;
        ConnectionIndex oldest = kNoConnection;
        ConnectionIndex newest = kNoConnection;
    };
    struct Ends {
        SourceIndex first = kNoSource;
        SourceIndex last = kNoSource;
    };

    [[nodiscard]] SourceIndex find(SourceId id) const noexcept;
    [[nodiscard]] SourceIndex add_source(SourceId id) noexcept;
    void remove_source(SourceIndex source) noexcept;
    void set_count(SourceIndex source, std::uint32_t count) noexcept;
    void leave_number(SourceIndex source) noexcept;
    void enter_number(SourceIndex source) noexcept;
    [[nodiscard]] SourceIndex& chain_of(SourceId id) noexcept {
        return chains_[id & (chains_.size() - 1)];
    }

    std::span<SourceMember> members_;
    std::vector<Source> sources_;
    std::vector<SourceIndex> chains_;
    std::vector<Ends> by_count_;
    SourceIndex free_ = kNoSource;
    std::uint32_t most_ = 0;
    std::size_t size_ = 0;
};

}  // namespace sluice
