#pragma once
#include "lib/base/bytes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sluice {

// The outcome of adding bytes to a CryptoStream.
enum class CryptoAdd : std::uint8_t {
    Good,
    BeyondRoom,     // some lie behind the room's end; those before it are kept
    TooManyPieces,  // nothing was kept
    Differs,        // nor here: a byte that is there came as another
};

// The bytes of CRYPTO frames, at their offsets, in whatever order they come and from however many
// packets, in room that the caller owns and bounds. A byte that came stays: one that comes again as
// another is told (RFC 9000, 2.2), so what was read of the stream does not change under its reader.
//
// A stream may begin at a later offset, as a message behind another does: its bytes count from
// there.
//
// Invariant: pieces_ are sorted, not empty, and between two of them a byte is missing.
class CryptoStream {
public:
    // Pieces with gaps between them. Clients that scramble their hello send about ten.
    static constexpr std::size_t kMaxPieces = 32;
    static constexpr std::size_t kMaxRoom = 0xFFFF;

    // Room behind kMaxRoom stays unused.
    explicit CryptoStream(MutableBytes room) noexcept
        : room_{room.size() > kMaxRoom ? room.first(kMaxRoom) : room} {}

    void clear() noexcept { begin_at(0); }
    // Empty, and what lies before `offset` is left out.
    void begin_at(std::size_t offset) noexcept {
        count_ = 0;
        begin_ = offset;
    }
    [[nodiscard]] CryptoAdd add(std::uint64_t offset, ByteView bytes) noexcept;

    [[nodiscard]] std::size_t room() const noexcept { return room_.size(); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] bool reaches_beyond(std::size_t size) const noexcept {
        return count_ > 0 && pieces_[count_ - 1].end > size;
    }
    [[nodiscard]] bool has_before(std::size_t size) const noexcept {
        return count_ > 0 && pieces_[0].begin < size;
    }
    // The bytes that are there, from its beginning on.
    [[nodiscard]] ByteView contiguous() const noexcept {
        return count_ > 0 && pieces_[0].begin == 0 ? room_.first(pieces_[0].end) : ByteView{};
    }
    // test(offset, bytes) of the pieces that are there, until one is false. True: none was.
    template <typename Test>
    [[nodiscard]] bool all_pieces(Test test) const {
        return std::all_of(pieces_.begin(), pieces_.begin() + count_, [&](const Piece& piece) {
            return test(std::size_t{piece.begin},
                        ByteView{room_.data() + piece.begin,
                                 static_cast<std::size_t>(piece.end - piece.begin)});
        });
    }

private:
    struct Piece {
        std::uint16_t begin;
        std::uint16_t end;
    };

    [[nodiscard]] bool agrees(Piece piece, ByteView bytes) const noexcept;
    [[nodiscard]] bool merge(Piece piece) noexcept;
    void fill_gaps(Piece piece, ByteView bytes) noexcept;

    MutableBytes room_;
    std::array<Piece, kMaxPieces> pieces_;  // the first count_ are set
    std::size_t count_ = 0;
    std::size_t begin_ = 0;
};

static_assert(std::is_trivially_copyable_v<CryptoStream>, "tables of connections keep it by value");

}  // namespace sluice
