#pragma once
#include "lib/engine/burst/packet.hpp"
#include "lib/packet/row_sum.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace sluice {

// The decisions on the packets of one burst, counted in few steps: mostly they share one verdict
// and one reason, and a counter that is added to packet by packet makes each wait until the one
// before it has been written.
class DecisionTally {
public:
    // `row` is below kMaxBurst; a row that is not counted need not be noted.
    void note(std::size_t row, const Decision& decision) noexcept {
        noted_[row] = static_cast<std::uint16_t>(static_cast<unsigned>(decision.reason) << 8U |
                                                 static_cast<unsigned>(decision.verdict));
    }

    // Counts these rows, whose frames have so many bytes each. `Counts` has Counters for each
    // verdict, and its bytes, and for each reason.
    template <typename Counts>
    void count(RowMask rows, const std::array<std::uint32_t, kMaxBurst>& bytes,
               Counts& counts) const noexcept {
        while (rows != 0) {
            const std::uint16_t code = noted_[static_cast<std::size_t>(std::countr_zero(rows))];
            const RowMask same = equal_to(code) & rows;
            const auto packets = static_cast<std::uint64_t>(std::popcount(same));
            counts.by_verdict[code & 0xFFU].add(packets);
            counts.bytes_by_verdict[code & 0xFFU].add(sum_of_rows(same, bytes));
            counts.by_reason[code >> 8U].add(packets);
            rows &= ~same;
        }
    }

private:
    static_assert(kMaxBurst == 32, "two bits of a word for each packet");

    // The rows that were noted so, among others that nobody has noted.
    [[nodiscard]] RowMask equal_to(std::uint16_t code) const noexcept {
        const __m256i wanted = _mm256_set1_epi16(static_cast<short>(code));
        const auto* words = reinterpret_cast<const __m256i*>(noted_.data());
        const auto half = [&](std::size_t at) {
            return static_cast<std::uint32_t>(
                _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_load_si256(words + at), wanted)));
        };
        constexpr std::uint64_t kOneOfTwo = 0x5555'5555'5555'5555;
        return static_cast<RowMask>(_pext_u64(half(0) | std::uint64_t{half(1)} << 32U, kOneOfTwo));
    }

    alignas(32) std::array<std::uint16_t, kMaxBurst> noted_;
};

}  // namespace sluice
