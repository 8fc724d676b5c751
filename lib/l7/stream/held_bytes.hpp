#pragma once
#include "lib/base/bytes.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Bytes of a head that is not whole: at most four pieces in order, none adjacent to another, each a
// chain of lines. Offsets count from where the head begins. Plain data in a pool's line.
struct HeldPiece {
    PoolLine first = kNoLine;
    PoolLine last = kNoLine;
    std::uint16_t at = 0;
    std::uint16_t size = 0;

    [[nodiscard]] std::size_t end() const noexcept { return std::size_t{at} + size; }
};

struct alignas(kLineBytes) HeldHead {
    static constexpr std::size_t kPieces = 4;

    std::uint16_t wanted = 0;   // HeadNeed::bytes
    std::uint8_t line_end = 0;  // LineEnds of the bytes in order
    std::uint8_t count = 0;
    std::array<HeldPiece, kPieces> pieces;
    bool may_be_none = false;  // HeadNeed
    // Numbers, since an earlier process may have left any.
    std::uint8_t is_guess = 0;  // HeadNeed, and LineTail of a line that is kept
    std::uint8_t is_none_at_end = 0;
    std::uint8_t returns = 0;  // CarriageReturns of the bytes in order

    [[nodiscard]] std::size_t in_order() const noexcept {
        return count != 0 && pieces[0].at == 0 ? pieces[0].size : 0;
    }
    [[nodiscard]] bool has_gaps() const noexcept { return count > (in_order() != 0 ? 1 : 0); }
};
static_assert(sizeof(HeldHead) == kLineBytes);

// Line ends in bytes in order, bit by bit: whether a blank line has ended behind one that is not
// (two line feeds, with or without a carriage return between them), and whether the first that is
// not has.
struct LineEnds {
    static constexpr std::uint8_t kAfterFeed = 1;
    static constexpr std::uint8_t kAfterReturn = 2;  // after a line feed
    static constexpr std::uint8_t kBlank = 4;
    static constexpr std::uint8_t kWanted = 8;       // the owner waits for a blank line
    static constexpr std::uint8_t kText = 16;        // a line has begun that is not blank
    static constexpr std::uint8_t kLine = 32;        // and has ended
    static constexpr std::uint8_t kLineWanted = 64;  // the owner waits for that
    [[nodiscard]] static constexpr bool is_news(std::uint8_t ends) noexcept {
        constexpr std::uint8_t kOfBlank = kWanted | kBlank;
        constexpr std::uint8_t kOfLine = kLineWanted | kLine;
        return (ends & kOfBlank) == kOfBlank || (ends & kOfLine) == kOfLine;
    }
    [[nodiscard]] static std::uint8_t scan(std::uint8_t ends, ByteView bytes) noexcept;
};

// Finds out of bytes in order, bit by bit, if a CR stands in them that no LF follows.
struct CarriageReturns {
    static constexpr std::uint8_t kAfter = 1;  // one is the last byte
    static constexpr std::uint8_t kBare = 2;
    static constexpr std::uint8_t kWanted = 4;  // the owner waits for a bare one
    [[nodiscard]] static constexpr bool is_news(std::uint8_t returns) noexcept {
        return (returns & (kBare | kWanted)) == (kBare | kWanted);
    }
    [[nodiscard]] static std::uint8_t scan(std::uint8_t returns, ByteView bytes) noexcept;
};

// The end of a line that is kept: more of the same says nothing new of it.
struct LineTail {
    static constexpr std::uint8_t kAny = 1;
    static constexpr std::uint8_t kWord = 2;   // a word alone, of bytes of tokens (RFC 9110, 5.6.2)
    static constexpr std::uint8_t kBlank = 3;  // spaces or tabs behind it
    [[nodiscard]] static std::uint8_t of(ByteView line) noexcept;
    // True: the line is to be looked at, now that these follow it.
    [[nodiscard]] static bool is_news(std::uint8_t tail, ByteView fresh) noexcept;
};

enum class Holding : std::uint8_t {
    Held,           // all bytes are there
    NoLines,        // the pool is empty; those that fitted are held
    TooManyPieces,  // nothing changed
};

// The bytes of one half head. What came first stays: bytes that are held are not written again, so
// repeating a call is harmless. A held byte is moved at most once for each piece before it.
class HeldBytes {
public:
    HeldBytes(LinePool& pool, PoolLine head) noexcept
        : pool_{pool}, head_{pool.at<HeldHead>(head)} {}

    // `at` + size is at most kMostHeadBytes.
    [[nodiscard]] Holding hold(std::size_t at, ByteView bytes) noexcept;
    // True if a held byte of this place is another one.
    [[nodiscard]] bool differs(std::size_t at, ByteView bytes) const noexcept;
    // The bytes in order, as many as there is room for; how many.
    [[nodiscard]] std::size_t copy(MutableBytes into) const noexcept;
    // The head begins so many bytes later: what lies before is given back.
    void drop_front(std::size_t bytes) noexcept;
    void release() noexcept;

    // The bytes that an earlier process held there, in a pool's lines of any content, are held
    // still, and their lines are `used` from then on; the next bytes get a look. False: they are
    // nothing that a process left, or lie in lines that are used.
    [[nodiscard]] static bool recover(LinePool& pool, PoolLine head, std::vector<bool>& used);

private:
    static constexpr std::size_t kPayload = kLineBytes - sizeof(PoolLine) - 2;
    struct Line {
        PoolLine next;  // first, as LinePool::give_back_chain() wants it
        std::uint8_t begin;
        std::uint8_t end;
        std::array<std::byte, kPayload> bytes;
    };

    [[nodiscard]] std::size_t new_pieces(std::size_t at, std::size_t end) const noexcept;
    [[nodiscard]] bool fill(std::size_t piece, std::size_t at, ByteView bytes) noexcept;
    [[nodiscard]] bool append(HeldPiece& piece, ByteView bytes) noexcept;
    void absorb_next(std::size_t piece) noexcept;
    void give_back(HeldPiece& piece) noexcept;
    void erase(std::size_t piece) noexcept;
    [[nodiscard]] static bool is_whole(const LinePool& pool, const HeldPiece& piece,
                                       const std::vector<bool>& used, std::vector<PoolLine>& lines);

    LinePool& pool_;
    HeldHead& head_;
};

}  // namespace sluice
