#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The instant, for each key that packets are held of, before which the next one does not depart, so
// that none overtakes another of its key, whichever limits delay them and under whichever numbers.
//
//   line   id | instant   id | instant   id | instant   id | instant      a cache line of four
//
// A key's place ends with its instant. Where a line is full of others, the one whose instant is the
// next to come gives way, and what note() returns says so: the order of that key may be lost.
// Everything is allocated at once, and touched as it is used. Time is an argument.
class HeldOrder {
public:
    static constexpr std::size_t kDefaultPackets = std::size_t{1} << 14;

    // A line for each packet that may be held: its limits' keys find room there.
    explicit HeldOrder(std::size_t packets = kDefaultPackets)
        : mask_{std::bit_ceil(std::max<std::size_t>(packets, 1)) - 1},
          lines_{zeroed_array<Line>(mask_ + 1)} {}

    // True if any key may have to wait.
    [[nodiscard]] bool any(Instant now) const noexcept { return latest_ > now; }

    // Returns `now`, or an instant before it, where none waits.
    [[nodiscard]] Instant not_before(std::uint64_t id, Instant now) const noexcept {
        if (!any(now)) {
            return now;
        }
        for (const Place& place : lines_[id & mask_].places) {
            if (place.id == id) {
                return place.until;
            }
        }
        return now;
    }

    // An instant never goes back. False: another key that still waits has lost its place.
    [[nodiscard]] bool note(std::uint64_t id, Instant until, Instant now) noexcept {
        latest_ = std::max(latest_, until);
        Line& line = lines_[id & mask_];
        Place* taken = &line.places[0];
        for (Place& place : line.places) {
            if (place.id == id) {
                place.until = std::max(place.until, until);
                return true;
            }
            taken = place.until < taken->until ? &place : taken;
        }
        const bool was_free = taken->until <= now;
        *taken = {id, until};
        return was_free;
    }

private:
    struct Place {
        std::uint64_t id = 0;
        Instant until{};
    };
    struct Line {
        Place places[4];
    };

    std::size_t mask_;
    Instant latest_{};
    LazyArray<Line> lines_;
};

}  // namespace sluice
