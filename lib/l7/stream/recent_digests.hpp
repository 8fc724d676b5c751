#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Sizes and promises of a table of recent digests.
struct RecentSize {
    std::size_t bits = std::size_t{1} << 21;  // of a generation; a power of two of 64 or more
    unsigned functions = 2;
    // Digests that a generation notes, unless more come within `least`.
    std::uint32_t most = UINT32_MAX;
    Nanoseconds least = Nanoseconds::max();  // that a digest lasts, whatever comes
};

// Digests that were noted within a time, or within twice of it: none of them is forgotten, unless
// more than RecentSize::most come, and a digest that was never noted seems to be one the more often
// the more there are (a Bloom filter in two generations). With n noted in a generation, of k
// functions in m bits, it mistakes a digest in (1 - exp(-k n / m))^k of cases: the smallest one in
// 400 of them at 50,000.
class RecentDigests {
public:
    // Aborts if there is no memory. Pages are touched as digests are noted.
    explicit RecentDigests(Nanoseconds lasts, const RecentSize& size = {});
    [[nodiscard]] static constexpr std::uint64_t memory(const RecentSize& size = {}) noexcept {
        return 2 * size.bits / 8;
    }

    // `now` never decreases.
    void note(std::uint64_t digest, Instant now) noexcept;
    [[nodiscard]] bool may_have(std::uint64_t digest, Instant now) noexcept;

private:
    struct Generation {
        LazyArray<std::uint64_t> words;
        bool is_used = false;
    };
    struct Place {
        std::size_t word;
        std::uint64_t bit;
    };
    [[nodiscard]] Place place_of(std::uint64_t digest, unsigned function) const noexcept;
    [[nodiscard]] bool has(const Generation& generation, std::uint64_t digest) const noexcept;
    void rotate(Instant now) noexcept;
    void empty(Generation& generation) const noexcept;

    RecentSize size_;
    std::array<Generation, 2> generations_;
    std::size_t young_ = 0;
    std::uint32_t noted_ = 0;  // in the younger generation
    Nanoseconds lasts_;
    Instant began_ = Instant::min();  // of the younger generation
};

}  // namespace sluice
