#pragma once
#include "lib/base/line_array.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/stream/hopscotch_lines.hpp"
#include "lib/l7/stream/kept_memory.hpp"
#include "lib/l7/stream/source_shares.hpp"
#include "lib/l7/stream/tcp_segment.hpp"
#include "lib/packet/payload_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace sluice {

// Bytes within bodies that say where the next request begins (lines of chunks, trailers), as they
// came first: what repeats their place must be the same. Those that the receiver has acknowledged
// are nobody's to change and make room. For the connections of one table, by their lines. Where
// more of them meet in a set than it has blocks, one goes:
//
//   all of its lines are acknowledged          it is missed by nobody
//   its source has most blocks in the table    the longest unused of them is lost
//   the newcomer's source has more than those  the newcomer is Full
//
// Nothing repeats what is lost, until the receiver has acknowledged it.
class FramingBytes {
public:
    // Aborts if there is no memory. Without lines it keeps nothing, and all agrees. In memory that
    // outlives the process take_over() follows.
    explicit FramingBytes(std::size_t lines, KeptMemory& memory = no_kept_memory());
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t lines) noexcept;
    // Bytes of it that outlive the process.
    [[nodiscard]] static std::uint64_t kept_of(std::size_t lines) noexcept;
    // The blocks that an earlier process left go on. `next_of`: where a line's connection has been
    // read to; nullopt: it has none. What is kept of bytes behind that was never read.
    using NextOf = std::function<std::optional<std::uint32_t>(ConnectionIndex)>;
    void take_over(const NextOf& next_of);
    // Before that: what an earlier process was forgetting of a connection that it has all the same,
    // of which something was kept, or lost, and which has been read to `next`.
    void take_back(ConnectionIndex connection, std::uint32_t next) noexcept;

    // Bytes of a connection's stream.
    struct Bytes {
        std::uint32_t from = 0;  // number of the first of them
        ByteView bytes;
    };
    enum class Added : std::uint8_t {
        Kept,
        Full,     // no room until receivers acknowledge more
        Evicted,  // kept, and `evicted` has lost its own
    };
    struct Adding {
        Added what = Added::Kept;
        ConnectionIndex evicted = kNoConnection;
    };
    struct Sender {
        ConnectionIndex connection = kNoConnection;
        SourceId source = 0;
    };
    // `lines`: places of framing bytes in `read`; what they were before is forgotten.
    // `acknowledged`: all before it the receiver has; where that is not known the oldest make room,
    // and what repeats them does not agree.
    [[nodiscard]] Adding add(const Sender& sender, const Bytes& read,
                             std::span<const PayloadRange> lines,
                             std::optional<std::uint32_t> acknowledged,
                             const KeyHasher& hash) noexcept;
    // True if bytes that repeat a place of the connection are those that framed there.
    [[nodiscard]] bool agrees(ConnectionIndex connection, const Bytes& repeat,
                              const KeyHasher& hash) const noexcept;
    // The receiver has all before `to`. False: nothing is left to be compared, or lost.
    [[nodiscard]] bool acknowledge(ConnectionIndex connection, std::uint32_t to) noexcept;
    // Something of it is there to be compared, or lost.
    [[nodiscard]] bool has_any(ConnectionIndex connection) const noexcept;
    // The connection is over. What it has lost stays lost until another one begins in its line.
    void forget(ConnectionIndex connection) noexcept;
    void begin(ConnectionIndex connection) noexcept;

    // The body that is under way begins there; and where it ended.
    void begin_body(ConnectionIndex connection, std::uint32_t from) noexcept;
    void end_body(ConnectionIndex connection, std::uint32_t to) noexcept;
    // All of these bytes, which the connection has had, are of its last body in chunks: what agrees
    // here may come again in any cut. False also where that body's beginning is not known.
    [[nodiscard]] bool is_in_body(ConnectionIndex connection, std::uint32_t from,
                                  std::uint32_t to) const noexcept;

    static constexpr std::size_t kKept = 63;  // of a connection, not acknowledged
    // Several places of one reading are told apart if so many of a connection's are left free for
    // what follows; else they are kept as one.
    static constexpr std::size_t kFreeBehindSeveral = 24;

private:
    static constexpr std::size_t kShort = 9;  // bytes that are kept as they are
    // A kill leaves a block whose lines are as they were, or with some of a change: its size makes
    // a line one, and unmakes it. Short ones can be compared in any cut; of longer ones a digest is
    // kept, and what repeats them must hold all of them.
    struct Line {
        std::uint32_t from = 0;
        std::uint16_t size = 0;  // 0: none is here
        std::array<std::byte, kShort> bytes{};

        [[nodiscard]] std::uint32_t end() const noexcept { return from + size; }
        [[nodiscard]] bool is_short() const noexcept { return size <= kShort; }
        [[nodiscard]] bool meets(std::uint32_t begin, std::uint32_t stop) const noexcept {
            return size != 0 && sequence_distance(begin, end()) > 0 &&
                   sequence_distance(from, stop) > 0;
        }
    };
    struct alignas(64) Block {
        std::uint32_t horizon = 0;  // some before here are kept no more
        std::uint16_t count = 0;    // none is behind so many
        bool has_horizon = false;
        bool is_over = false;  // the body is, at body_to
        std::uint32_t body_from = 0;
        std::uint32_t body_to = 0;
        std::array<Line, kKept> lines{};

        [[nodiscard]] std::span<Line> all() noexcept { return std::span{lines}.first(count); }
        [[nodiscard]] std::span<const Line> all() const noexcept {
            return std::span{lines}.first(count);
        }
        [[nodiscard]] std::size_t kept() const noexcept;
        // The receiver has all that was in it.
        [[nodiscard]] bool is_spent() const noexcept { return count == 0 && !has_horizon; }
        [[nodiscard]] std::uint32_t end() const noexcept;  // of the last one
    };
    static_assert(sizeof(Block) == 1024);
    static constexpr std::size_t kWays = 8;
    struct alignas(16) Owner {
        ConnectionIndex connection = 0;
        std::uint32_t used = 0;  // 0: nobody's
        SourceId source = 0;
    };
    using Owners = std::array<Owner, kWays>;
    static_assert(sizeof(Owners) == 128);

    [[nodiscard]] static std::size_t sets_for(std::size_t lines) noexcept;
    [[nodiscard]] std::size_t set_of(ConnectionIndex connection) const noexcept {
        return connection & (sets_ - 1);
    }
    [[nodiscard]] std::size_t find(ConnectionIndex connection) const noexcept;
    [[nodiscard]] Owner& owner_of(std::size_t block) noexcept {
        return owners_[block / kWays][block % kWays];
    }
    // Blocks of a source, and of those that share its number.
    [[nodiscard]] std::uint32_t& blocks_of(SourceId source) noexcept {
        return by_source_[source & (sources_for(sets_) - 1)];
    }
    [[nodiscard]] static std::size_t sources_for(std::size_t sets) noexcept {
        return 2 * kWays * sets;
    }
    [[nodiscard]] std::size_t place_for(const Sender& sender) noexcept;
    [[nodiscard]] std::size_t take(const Sender& sender, std::uint32_t body_from,
                                   Adding& adding) noexcept;
    void lose(ConnectionIndex connection, std::uint32_t until) noexcept;
    [[nodiscard]] bool can_go_on(std::size_t block, const NextOf& next_of) const;
    void give_up(Owner& owner) noexcept;
    static void drop_acknowledged(Block& block, std::uint32_t acknowledged) noexcept;
    static void drop_from(Block& block, std::uint32_t next) noexcept;
    static void trim(Block& block) noexcept;
    static void drop_oldest(Block& block, std::size_t count) noexcept;
    static void put(Block& block, const Bytes& read, const PayloadRange& place,
                    const KeyHasher& hash) noexcept;
    [[nodiscard]] static bool is_same(const Line& line, const Bytes& repeat,
                                      const KeyHasher& hash) noexcept;

    std::size_t sets_;
    std::size_t lines_;
    LineArray<Owners> owners_;
    LineArray<Block> blocks_;
    // By line: before which number some are lost; 0: none are.
    LineArray<std::uint32_t> lost_;
    LineArray<std::uint32_t> by_source_;
    std::uint32_t uses_ = 0;
};

}  // namespace sluice
