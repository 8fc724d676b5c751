#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/conn/tcp_segment.hpp"
#include "lib/hash/group_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Digests of the latest segments that a connection's heads came in: what repeats their bytes must
// be the same. Segments are compared whole, as TCP sends them again, several of them in one too.
// Where there are more than there is room for, neighbours of one size are compared together from
// then on: the segments of a long head.
//
//   a segment that repeats    of what came before
//   all of one kept           has the same bytes, or differs
//   the beginning of one      is a part of it: PartRepeats goes on with that
//   another part              differs: nothing tells what it is
//   what no head lay in       passes
//   what is kept no more      differs
class alignas(64) SeenSegments {
public:
    enum class Repeat : std::uint8_t { Same, Part, Differs };
    struct Comparison {
        Repeat what = Repeat::Differs;
        std::size_t whole =
            0;  // of a Part, bytes before the segment that it is a part of; else all
    };

    void prefetch() const noexcept {
        prefetch0(this);
        prefetch0(&segments_.back());
    }
    void clear() noexcept {
        count_ = 0;
        has_horizon_ = false;
    }
    // False: it is nothing that a process left.
    [[nodiscard]] bool can_be() const noexcept;
    // Bytes that begin there, of one segment; what they were before is forgotten.
    void add(std::uint32_t from, ByteView bytes, const KeyHasher& hash) noexcept;
    // What bytes that begin there, all of them known to the connection, are of what came before.
    [[nodiscard]] Comparison compare(std::uint32_t from, ByteView bytes,
                                     const KeyHasher& hash) const noexcept;
    // True if all of these bytes are whole segments that are kept, and the same.
    [[nodiscard]] bool holds(std::uint32_t from, ByteView bytes,
                             const KeyHasher& hash) const noexcept;

private:
    static constexpr std::size_t kKept = 10;
    // Of one that is several.
    static constexpr std::size_t kMostTogether = std::size_t{16} << 10;
    // `count` segments of `size` bytes each.
    struct Segment {
        std::uint32_t from = 0;
        std::uint16_t size = 0;
        std::uint16_t count = 0;
        std::uint32_t digest = 0;

        [[nodiscard]] std::uint32_t bytes() const noexcept { return std::uint32_t{size} * count; }
        [[nodiscard]] std::uint32_t end() const noexcept { return from + bytes(); }
        [[nodiscard]] bool meets(std::uint32_t begin, std::uint32_t stop) const noexcept {
            return sequence_distance(begin, end()) > 0 && sequence_distance(from, stop) > 0;
        }
        [[nodiscard]] bool goes_on_with(const Segment& next) const noexcept {
            return end() == next.from && size == next.size && next.count == 1 &&
                   bytes() + size <= kMostTogether;
        }
    };
    [[nodiscard]] static std::uint32_t digest_of(ByteView bytes, const KeyHasher& hash) noexcept {
        return static_cast<std::uint32_t>(hash.digest(bytes));
    }
    [[nodiscard]] static std::uint32_t digest_of_both(std::uint32_t one, std::uint32_t next,
                                                      const KeyHasher& hash) noexcept;
    [[nodiscard]] static std::uint32_t digest_of(const Segment& segment, ByteView bytes,
                                                 const KeyHasher& hash) noexcept;
    void make_room(const KeyHasher& hash) noexcept;
    [[nodiscard]] bool join_two(const KeyHasher& hash) noexcept;

    std::uint16_t count_ = 0;
    bool has_horizon_ = false;
    std::uint32_t horizon_ = 0;              // before here, some are kept no more
    std::array<Segment, kKept> segments_{};  // the oldest first
};
static_assert(sizeof(SeenSegments) == 128);

}  // namespace sluice
