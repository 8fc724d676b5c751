#pragma once
#include "lib/base/lazy_array.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The cores, of many, that have something of a digest: one look, whatever their number. Each core
// sets and clears its own bit; what shares a place with another digest may be named for it as well,
// so who must know for sure asks the named core's own table.
//
//   place of a digest   [ core 0 | core 1 | ... | core 63 ] ...      a word for each 64 cores
//
// Its memory is touched as it is used.
class DigestOwners {
public:
    // `digests`: of all places; rounded up to a power of two.
    DigestOwners(std::size_t cores, std::size_t digests)
        : words_{std::max<std::size_t>((cores + kBits - 1) / kBits, 1)},
          mask_{std::bit_ceil(std::max<std::size_t>(digests, 1)) - 1},
          places_{zeroed_array<Word>((mask_ + 1) * words_)} {}

    // True if two digests share a place.
    [[nodiscard]] bool are_together(std::uint64_t a, std::uint64_t b) const noexcept {
        return ((a ^ b) & mask_) == 0;
    }
    void add(std::uint64_t digest, std::size_t core) noexcept {
        const std::atomic_ref<Word> word{word_of(digest, core)};
        if ((word.load(std::memory_order_relaxed) & bit_of(core)) == 0) {
            word.fetch_or(bit_of(core), std::memory_order_release);
        }
    }
    // The core has nothing of this digest's place any more.
    void remove(std::uint64_t digest, std::size_t core) noexcept {
        const std::atomic_ref<Word> word{word_of(digest, core)};
        word.fetch_and(~bit_of(core), std::memory_order_release);
    }
    // Calls use(core) for each that may have something.
    template <typename Use>
    void for_each(std::uint64_t digest, Use&& use) const noexcept {
        for (std::size_t at = 0; at < words_; ++at) {
            const std::atomic_ref<Word> word{word_of(digest, at * kBits)};
            for (Word bits = word.load(std::memory_order_acquire); bits != 0; bits &= bits - 1) {
                use(at * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
            }
        }
    }

private:
    using Word = std::uint64_t;
    static constexpr std::size_t kBits = 64;

    [[nodiscard]] static Word bit_of(std::size_t core) noexcept {
        return Word{1} << (core % kBits);
    }
    [[nodiscard]] Word& word_of(std::uint64_t digest, std::size_t core) const noexcept {
        return places_[(digest & mask_) * words_ + core / kBits];
    }

    std::size_t words_;
    std::size_t mask_;
    LazyArray<Word> places_;
};

}  // namespace sluice
