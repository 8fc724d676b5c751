#pragma once
#include "lib/conn/tcp_segment.hpp"
#include "lib/hash/group_key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Digests of the latest segments that a connection's heads came in: what repeats their bytes must
// be the same. Segments are compared whole, as TCP sends them again, several of them in one too.
//
//   a segment that repeats    of what came before
//   all of one kept           has the same bytes, or differs
//   a part of one kept        differs: nothing tells what it is
//   what no head lay in       passes
//   what is kept no more      differs
class alignas(64) SeenSegments {
public:
    void clear() noexcept {
        count_ = 0;
        has_horizon_ = false;
    }
    // Bytes that begin there, of one segment; what they were before is forgotten.
    void add(std::uint32_t from, ByteView bytes, const KeyHasher& hash) noexcept;
    // Whether bytes that begin there, all of them known to the connection, may be what came before.
    [[nodiscard]] bool may_repeat(std::uint32_t from, ByteView bytes,
                                  const KeyHasher& hash) const noexcept;

private:
    static constexpr std::size_t kKept = 10;
    struct Segment {
        std::uint32_t from = 0;
        std::uint32_t size = 0;
        std::uint32_t digest = 0;

        [[nodiscard]] std::uint32_t end() const noexcept { return from + size; }
        [[nodiscard]] bool meets(std::uint32_t begin, std::uint32_t stop) const noexcept {
            return sequence_distance(begin, end()) > 0 && sequence_distance(from, stop) > 0;
        }
    };
    [[nodiscard]] static std::uint32_t digest_of(ByteView bytes, const KeyHasher& hash) noexcept {
        return static_cast<std::uint32_t>(hash.digest(bytes));
    }

    std::uint16_t count_ = 0;
    bool has_horizon_ = false;
    std::uint32_t horizon_ = 0;              // before here, some are kept no more
    std::array<Segment, kKept> segments_{};  // the oldest first
};
static_assert(sizeof(SeenSegments) == 128);

}  // namespace sluice
