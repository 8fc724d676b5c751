#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/share/kept_ring.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>

namespace sluice {

// Rings of a link, each for one kind of message. Each has room of its own, so that no protocol
// takes any from another; and each is read when its protocol needs it, so that none waits behind
// another's.
enum class LinkRing : std::uint8_t { Amounts, Totals, Questions, Answers, Connections };
inline constexpr std::size_t kLinkRings = 5;
static_assert(kLinkRings <= RingMarks::kRings);

// Records that the rings of each protocol hold, powers of two; 0: it has none.
struct LinkSizes {
    std::size_t merge = 0;        // amounts and totals
    std::size_t reserve = 0;      // questions and answers
    std::size_t connections = 0;  // connection messages
};

// Much for few workers, and for many no more memory of a worker than for few.
[[nodiscard]] constexpr LinkSizes link_sizes(std::size_t workers) noexcept {
    constexpr std::size_t kLeast = 64;
    constexpr std::size_t kOfAWorker = 8192;
    const auto size = [&](std::size_t most) {
        while (most > kLeast && most * workers > kOfAWorker) {
            most /= 2;
        }
        return most;
    };
    return {.merge = size(2048), .reserve = size(1024), .connections = size(1024)};
}

// One link for each ordered pair of workers, and of each with itself: all that the first one tells
// the other, in records of 64 bytes, and one line that says how far it has come with what it
// writes there and what it reads of the other's.
class Links {
public:
    Links(std::size_t workers, const LinkSizes& sizes)
        : workers_{workers},
          sizes_{sizes.merge, sizes.merge, sizes.reserve, sizes.reserve, sizes.connections},
          marks_{std::make_unique<RingMarks[]>(workers * workers)},
          lines_{uninitialized_array<RingLine>(workers * workers * lines_of_one())} {}

    [[nodiscard]] std::size_t workers() const noexcept { return workers_; }
    // Marks that one of them sets for another, of the rings between them.
    [[nodiscard]] RingMarks& marks_between(std::size_t from, std::size_t to) noexcept {
        return marks_[from * workers_ + to];
    }
    // For the ends of a ring, of which there is one each.
    [[nodiscard]] RingPlace place(std::size_t from, std::size_t to, LinkRing ring) noexcept {
        const auto which = static_cast<std::size_t>(ring);
        RingLine* const link = &lines_[(from * workers_ + to) * lines_of_one()];
        RingLine* const first = std::accumulate(sizes_.begin(), sizes_.begin() + which, link);
        return {std::span{first, sizes_[which]}, marks_between(from, to), marks_between(to, from),
                which};
    }

private:
    [[nodiscard]] std::size_t lines_of_one() const noexcept {
        return std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0});
    }

    std::size_t workers_;
    std::array<std::size_t, kLinkRings> sizes_;
    std::unique_ptr<RingMarks[]> marks_;
    LazyArray<RingLine> lines_;  // of the rings of each link
};

}  // namespace sluice
