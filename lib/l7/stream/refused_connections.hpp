#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/l7/stream/connection_budget.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Connections that had to make room while something of theirs was at stake, by digests alone:
// whatever they send is refused until they have been silent for a time. A digest has eight places
// in each of two lines, of which the emptier one takes it (Azar et al., balanced allocations), so
// that nearly all places are used before any is lost. What goes then is the budget's choice:
//
//   Evict   the longest silent of both lines is forgotten
//   Refuse  none is: both lines stay full for the time from then on, and all that has full lines
//           is refused like those in them
class RefusedConnections {
public:
    // There is room for at least six times so many; beyond, more and more are lost. Aborts if there
    // is no memory.
    RefusedConnections(std::size_t connections, std::uint32_t silence_ticks, FullHeads when_full);
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept;

    // False: all that were added have been silent since.
    [[nodiscard]] bool may_have_any(std::uint32_t ticks) const noexcept {
        return has_any_ && ticks - latest_ <= silence_;
    }
    void prefetch(std::uint64_t digest) const noexcept {
        prefetch0(&lines_[first_line(digest)]);
        prefetch0(&lines_[second_line(digest)]);
    }
    // False: one that has not been silent for long enough had to go for it. Where none goes, true.
    [[nodiscard]] bool add(std::uint64_t digest, std::uint32_t ticks) noexcept;
    // True if it is there; if so, it has been silent until now.
    [[nodiscard]] bool meets(std::uint64_t digest, std::uint32_t ticks) noexcept;
    // True if nothing tells it from those there was no place for.
    [[nodiscard]] bool may_be_one(std::uint64_t digest, std::uint32_t ticks) const noexcept {
        return when_full_ == FullHeads::Refuse && is_full(digest, ticks);
    }

private:
    struct Place {
        std::uint32_t tag = 0;  // 0: none, as in zeroed memory
        std::uint32_t seen = 0;
    };
    using Line = std::array<Place, 8>;
    static_assert(sizeof(Line) == 64);

    [[nodiscard]] static std::uint32_t tag_of(std::uint64_t digest) noexcept {
        return static_cast<std::uint32_t>(digest >> 32) | 1U;
    }
    [[nodiscard]] std::uint64_t first_line(std::uint64_t digest) const noexcept {
        return digest & mask_;
    }
    [[nodiscard]] std::uint64_t second_line(std::uint64_t digest) const noexcept;
    [[nodiscard]] bool is_free(const Place& place, std::uint32_t ticks) const noexcept {
        return place.tag == 0 || ticks - place.seen > silence_;
    }
    [[nodiscard]] std::ptrdiff_t free_places(const Line& line, std::uint32_t ticks) const noexcept;
    [[nodiscard]] bool is_full(std::uint64_t digest, std::uint32_t ticks) const noexcept {
        return free_places(lines_[first_line(digest)], ticks) == 0 &&
               free_places(lines_[second_line(digest)], ticks) == 0;
    }
    void stay_full(std::uint64_t digest, std::uint32_t ticks) noexcept;
    [[nodiscard]] Place* find(std::uint64_t digest, std::uint32_t ticks) noexcept;

    LineMemory memory_;
    Line* lines_;
    std::uint64_t mask_;
    std::uint32_t silence_;
    FullHeads when_full_;
    std::uint32_t latest_ = 0;  // when one was added or met
    bool has_any_ = false;
};

}  // namespace sluice
