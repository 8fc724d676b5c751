#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/l7/stream/recent_bytes.hpp"
#include "lib/l7/stream/tcp_segment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// Digests of the segments that a connection's heads came in, until the receiver has acknowledged
// them: what repeats their bytes must be the same. Pieces lie side by side, without a hole:
//
//   from_ |-- known --|-- known --|---- gap ----|-- unknown --|-- known --|
//
// No piece holds more than a part of a segment that came, and none a place where one began or
// ended.
//
//   a segment that repeats    of what came before
//   all of a known piece      has the same bytes, or differs
//   a part of one             the same, as long as its bytes are kept (RecentBytes); then nothing
//                             tells
//   some of an unknown one    differs
//   a gap, and all beyond     passes: no head lay there
//   what was forgotten        differs
//
// A segment that has some bytes of a known piece leaves the rest of it unknown. Without room the
// latest two pieces become one unknown one; where nothing tells what is acknowledged, the first one
// is forgotten.
class alignas(64) SeenSegments {
public:
    enum class Repeat : std::uint8_t {
        Same,      // in the cuts that they came in
        SamePart,  // a part of some piece is among them
        Untold,    // they may be the same: a part is among them of a piece whose bytes have gone
        Differs,
    };

    void prefetch() const noexcept {
        prefetch0(this);
        prefetch0(&words_[kKept / 4]);
    }
    void clear() noexcept {
        count_ = 0;
        has_horizon_ = false;
    }
    // False: it is nothing that a process left.
    [[nodiscard]] bool can_be() const noexcept;
    // Bytes that begin there, of one segment. `acknowledged`: all before it the receiver has.
    void add(std::uint32_t from, ByteView bytes, std::optional<std::uint32_t> acknowledged,
             const KeyHasher& hash, RecentBytes& recent) noexcept;
    // Bytes before that number are repeated in vain: whole pieces of them are forgotten.
    void forget_before(std::uint32_t acknowledged) noexcept;
    // The first `size` of bytes that begin there, known to the connection, to compare with what
    // came before; of a piece that goes on behind them the others count as well.
    struct Repeated {
        std::uint32_t from = 0;
        ByteView bytes;
        std::size_t size = bytes.size();
    };
    [[nodiscard]] Repeat compare(const Repeated& repeat, const KeyHasher& hash,
                                 const RecentBytes& recent) const noexcept;
    // True if all of these bytes are in known pieces, and the same.
    [[nodiscard]] bool holds(std::uint32_t from, ByteView bytes, const KeyHasher& hash,
                             const RecentBytes& recent) const noexcept;

private:
    static constexpr std::size_t kKept = 18;
    // Bytes of all pieces together, so that numbers on both sides can be told apart.
    static constexpr std::int64_t kMostSpan = std::int64_t{1} << 30;
    static constexpr std::uint32_t kUnknown = std::uint32_t{1} << 31;

    [[nodiscard]] static std::uint32_t digest_of(ByteView bytes, const KeyHasher& hash) noexcept {
        return static_cast<std::uint32_t>(hash.digest(bytes));
    }
    // A digest, and the place of the bytes in RecentBytes; of a piece that is not known, its size.
    struct Word {
        std::uint32_t digest = 0;
        std::uint32_t place = 0;
    };
    // A part of a piece, and where it lies in it.
    struct PartOf {
        std::size_t piece;
        std::size_t at;
        ByteView bytes;
    };

    [[nodiscard]] bool is_known(std::size_t i) const noexcept { return sizes_[i] != 0; }
    [[nodiscard]] bool is_gap(std::size_t i) const noexcept {
        return !is_known(i) && (words_[i].digest & kUnknown) == 0;
    }
    [[nodiscard]] std::uint32_t size_of(std::size_t i) const noexcept {
        return is_known(i) ? sizes_[i] : words_[i].digest & ~kUnknown;
    }
    [[nodiscard]] Repeat compare_part(const PartOf& part, const KeyHasher& hash,
                                      const RecentBytes& recent) const noexcept;
    [[nodiscard]] std::int64_t span() const noexcept;
    void forget_first(std::size_t pieces) noexcept;
    void join_last() noexcept;
    void make_room(std::size_t pieces, bool knows_acknowledged) noexcept;
    void double_piece(std::size_t i) noexcept;
    void prepend_gap(std::uint32_t size) noexcept;
    [[nodiscard]] bool split(std::int64_t at) noexcept;
    void append_gap(std::int64_t size) noexcept;
    void set_unknown(std::size_t i, std::uint32_t size) noexcept;
    void put(std::int64_t at, ByteView bytes, const KeyHasher& hash, RecentBytes& recent) noexcept;

    std::uint32_t from_ = 0;
    std::uint16_t count_ = 0;
    bool has_horizon_ = false;                  // before from_, some were forgotten
    std::array<std::uint16_t, kKept> sizes_{};  // 0: not known
    std::array<Word, kKept> words_{};
};
static_assert(sizeof(SeenSegments) == 192);

}  // namespace sluice
