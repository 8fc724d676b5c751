#pragma once
#include "lib/base/line_array.hpp"
#include "lib/conn/hopscotch_lines.hpp"
#include "lib/conn/tcp_segment.hpp"
#include "lib/hash/group_key.hpp"
#include "lib/packet/payload_range.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

// Bytes within bodies that say where the next request begins (lines of chunks, trailers), as they
// came first: what repeats their place must be the same. Those that the receiver has acknowledged
// are nobody's to change and make room. For the connections of one table, by their lines; of more
// than there is room for at once the longest unused loses its own.
class FramingBytes {
public:
    // Aborts if there is no memory. Without lines it keeps nothing, and all agrees.
    explicit FramingBytes(std::size_t lines);
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t lines) noexcept;

    // Bytes of a connection's stream.
    struct Bytes {
        std::uint32_t from = 0;  // number of the first of them
        ByteView bytes;
    };
    enum class Added : std::uint8_t {
        Kept,
        Full,     // no room until the receiver acknowledges more
        Evicted,  // kept, and `evicted` has lost its own
    };
    struct Adding {
        Added what = Added::Kept;
        ConnectionIndex evicted = kNoConnection;
    };
    // `lines`: places of framing bytes in `read`; what they were before is forgotten.
    // `acknowledged`: all before it the receiver has; where that is not known the oldest make room,
    // and what repeats them does not agree.
    [[nodiscard]] Adding add(ConnectionIndex connection, const Bytes& read,
                             std::span<const PayloadRange> lines,
                             std::optional<std::uint32_t> acknowledged,
                             const KeyHasher& hash) noexcept;
    // True if bytes that repeat a place of the connection are those that framed there.
    [[nodiscard]] bool agrees(ConnectionIndex connection, const Bytes& repeat,
                              const KeyHasher& hash) const noexcept;
    void forget(ConnectionIndex connection) noexcept;

    // The body that is under way begins there; and where it ended.
    void begin_body(ConnectionIndex connection, std::uint32_t from) noexcept;
    void end_body(ConnectionIndex connection, std::uint32_t to) noexcept;
    // All of these bytes, which the connection has had, are of its last body in chunks: what agrees
    // here may come again in any cut. False also where that body's beginning is not known.
    [[nodiscard]] bool is_in_body(ConnectionIndex connection, std::uint32_t from,
                                  std::uint32_t to) const noexcept;

    // Places that are told apart in one reading; more are kept as one.
    static constexpr std::size_t kMostLines = 16;
    static constexpr std::size_t kKept = 63;  // of a connection, not acknowledged

private:
    static constexpr std::size_t kShort = 9;  // bytes that are kept as they are
    // Short ones can be compared in any cut; of longer ones a digest is kept, and what repeats
    // them must hold all of them.
    struct Line {
        std::uint32_t from = 0;
        std::uint16_t size = 0;
        bool is_short = false;
        std::array<std::byte, kShort> bytes{};

        [[nodiscard]] std::uint32_t end() const noexcept { return from + size; }
        [[nodiscard]] bool meets(std::uint32_t begin, std::uint32_t stop) const noexcept {
            return sequence_distance(begin, end()) > 0 && sequence_distance(from, stop) > 0;
        }
    };
    struct alignas(64) Block {
        std::uint32_t horizon = 0;  // some before here are kept no more
        std::uint16_t count = 0;
        bool has_horizon = false;
        bool is_over = false;  // the body is, at body_to
        std::uint32_t body_from = 0;
        std::uint32_t body_to = 0;
        std::array<Line, kKept> lines{};  // the oldest first
    };
    static_assert(sizeof(Block) == 1024);
    static constexpr std::size_t kWays = 8;
    struct Owner {
        ConnectionIndex connection = 0;
        std::uint32_t used = 0;  // 0: nobody's
    };
    using Owners = std::array<Owner, kWays>;
    static_assert(sizeof(Owners) == 64);

    [[nodiscard]] static std::size_t sets_for(std::size_t lines) noexcept;
    [[nodiscard]] std::size_t set_of(ConnectionIndex connection) const noexcept {
        return connection & (sets_ - 1);
    }
    [[nodiscard]] std::size_t find(ConnectionIndex connection) const noexcept;
    [[nodiscard]] std::size_t take(ConnectionIndex connection, std::uint32_t body_from,
                                   Adding& adding) noexcept;
    static void drop_acknowledged(Block& block, std::uint32_t acknowledged) noexcept;
    static void drop_oldest(Block& block, std::size_t count) noexcept;
    static void put(Block& block, const Bytes& read, const PayloadRange& place,
                    const KeyHasher& hash) noexcept;
    [[nodiscard]] static bool is_same(const Line& line, const Bytes& repeat,
                                      const KeyHasher& hash) noexcept;

    std::size_t sets_;
    LineArray<Owners> owners_;
    LineArray<Block> blocks_;
    std::uint32_t uses_ = 0;
};

}  // namespace sluice
