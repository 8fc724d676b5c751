#pragma once
#include "lib/packet/row_mask.hpp"
#include "lib/pipeline/packet.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace sluice {

// What became of the packets of one burst, counted in few steps: mostly they share one verdict and
// one reason, and a counter that is added to packet by packet makes each wait until the one before
// it has been written.
class DecisionTally {
public:
    // `row` is below kMaxBurst; a row that is not counted need not be noted.
    void note(std::size_t row, const Decision& decision) noexcept {
        noted_[row] = static_cast<std::uint16_t>(static_cast<unsigned>(decision.reason) << 8U |
                                                 static_cast<unsigned>(decision.verdict));
    }

    // The first `rows` rows. `Counts` has a Counter for each verdict and each reason.
    template <typename Counts>
    void count(std::size_t rows, Counts& counts) const noexcept {
        for (std::uint64_t left = first(rows); left != 0;) {
            const std::uint16_t code = noted_[static_cast<std::size_t>(std::countr_zero(left)) / 2];
            const std::uint64_t same = equal_to(code) & left;
            const auto packets = static_cast<std::uint64_t>(std::popcount(same)) / 2;
            counts.by_verdict[code & 0xFFU].add(packets);
            counts.by_reason[code >> 8U].add(packets);
            left &= ~same;
        }
    }

private:
    static_assert(kMaxBurst == 32, "two bits of a word for each packet");

    [[nodiscard]] static std::uint64_t first(std::size_t rows) noexcept {
        return rows == 0 ? 0 : ~std::uint64_t{0} >> (2 * (kMaxBurst - rows));
    }
    // Two bits for each packet that was noted so.
    [[nodiscard]] std::uint64_t equal_to(std::uint16_t code) const noexcept {
        const __m256i wanted = _mm256_set1_epi16(static_cast<short>(code));
        const auto* words = reinterpret_cast<const __m256i*>(noted_.data());
        const auto half = [&](std::size_t at) {
            return static_cast<std::uint32_t>(
                _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_load_si256(words + at), wanted)));
        };
        return half(0) | std::uint64_t{half(1)} << 32U;
    }

    // As many as are counted are read.
    alignas(32) std::array<std::uint16_t, kMaxBurst> noted_;
};

}  // namespace sluice
