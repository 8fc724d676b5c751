#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Digests that were noted within a time, or within twice of it: none of them is forgotten, and a
// digest that was never noted seems to be one the more often the more there are (a Bloom filter of
// two functions, in two generations). With n noted in a generation a digest is mistaken in
// (2 n / kBits)^2 of cases: one in 400 of them at 50,000.
class RecentDigests {
public:
    static constexpr std::size_t kBits = std::size_t{1} << 21;  // of a generation

    // Aborts if there is no memory. Pages are touched as digests are noted.
    explicit RecentDigests(Nanoseconds lasts);
    [[nodiscard]] static constexpr std::uint64_t memory() noexcept { return 2 * kBits / 8; }

    // `now` never decreases.
    void note(std::uint64_t digest, Instant now) noexcept;
    [[nodiscard]] bool may_have(std::uint64_t digest, Instant now) noexcept;

private:
    struct Generation {
        LazyArray<std::uint64_t> words;
        bool is_used = false;
    };
    static constexpr std::size_t kWords = kBits / 64;

    void turn(Instant now) noexcept;
    static void empty(Generation& generation) noexcept;

    std::array<Generation, 2> generations_;
    std::size_t young_ = 0;
    Nanoseconds lasts_;
    Instant began_ = Instant::min();  // of the younger generation
};

}  // namespace sluice
