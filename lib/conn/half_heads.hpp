#pragma once
#include "lib/conn/connection_lines.hpp"
#include "lib/conn/held_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Whose half heads there are, so that the source with most of them loses its oldest first:
//
//   sources by number of half heads:   1: s s s   2: s   ...   most: s --> oldest .. newest
//
// Every step is constant time: a source moves to a neighbouring number with each half head, and the
// largest number with a source falls by one at most. Among sources of one number the one that has
// had it longest comes first.
class HalfHeads {
public:
    // Room for so many half heads, and for so many of one source. Aborts if there is no memory.
    HalfHeads(std::size_t half_heads, std::size_t per_source, ConnectionLines& connections,
              LinePool& pool);

    // The connection has a HeldHead that is in no source; there is room.
    void add(ConnectionIndex connection, std::uint64_t source) noexcept;
    void remove(ConnectionIndex connection) noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t count_of(std::uint64_t source) const noexcept;
    // The oldest of this source; kNoConnection: it has none.
    [[nodiscard]] ConnectionIndex oldest_of(std::uint64_t source) const noexcept;
    // The oldest of the source with most; kNoConnection: there is none.
    [[nodiscard]] ConnectionIndex oldest_of_most() const noexcept;

private:
    using SourceIndex = std::uint32_t;
    static constexpr SourceIndex kNoSource = ~SourceIndex{0};

    struct Source {
        std::uint64_t id = 0;
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

    [[nodiscard]] SourceIndex find(std::uint64_t id) const noexcept;
    [[nodiscard]] SourceIndex add_source(std::uint64_t id) noexcept;
    void remove_source(SourceIndex source) noexcept;
    void set_count(SourceIndex source, std::uint32_t count) noexcept;
    void leave_number(SourceIndex source) noexcept;
    void enter_number(SourceIndex source) noexcept;
    [[nodiscard]] HeldHead& head_of(ConnectionIndex connection) noexcept {
        return pool_.at<HeldHead>(connections_[connection].held);
    }
    [[nodiscard]] SourceIndex& chain_of(std::uint64_t id) noexcept {
        return chains_[id & (chains_.size() - 1)];
    }

    ConnectionLines& connections_;
    LinePool& pool_;
    std::vector<Source> sources_;
    std::vector<SourceIndex> chains_;
    std::vector<Ends> by_count_;
    SourceIndex free_ = kNoSource;
    std::uint32_t most_ = 0;
    std::size_t size_ = 0;
};

}  // namespace sluice
