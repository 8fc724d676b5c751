#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// Hellos that were judged and forwarded, and whose lines had to make room: the same one is told
// from any other when it comes again. A place is shared by all whose digests end alike, and has the
// latest of them: one that is gone is judged anew.
class QuicVerdicts {
public:
    // Aborts if there is no memory. Nothing is allocated later.
    explicit QuicVerdicts(std::size_t connections) : places_(places_for(connections)) {}
    [[nodiscard]] static std::uint64_t memory_of(std::size_t connections) noexcept {
        return places_for(connections) * sizeof(Place);
    }

    // The charge of a hello and the id that it came under, in any order: when it was made, and
    // behind how many gaps.
    struct Charged {
        std::uint32_t ticks = 0;
        std::uint16_t gaps = 0;
    };
    void note(std::uint64_t one, std::uint64_t other, const Charged& charged) noexcept {
        const std::uint64_t key = key_of(one, other);
        places_[key & (places_.size() - 1)] = {key, charged};
    }
    // nullptr: it is not known.
    [[nodiscard]] const Charged* find(std::uint64_t one, std::uint64_t other) const noexcept {
        const std::uint64_t key = key_of(one, other);
        const Place& place = places_[key & (places_.size() - 1)];
        return place.key == key ? &place.charged : nullptr;
    }

private:
    struct Place {
        std::uint64_t key = 0;
        Charged charged;
    };
    [[nodiscard]] static std::size_t places_for(std::size_t connections) noexcept {
        return std::bit_ceil(4 * connections);
    }
    // Both are keyed digests.
    [[nodiscard]] static std::uint64_t key_of(std::uint64_t one, std::uint64_t other) noexcept {
        constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
        return (std::min(one, other) * kOdd ^ std::max(one, other)) | 1U << 31;
    }

    std::vector<Place> places_;  // a power of two
};

}  // namespace sluice
