#pragma once
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

namespace sluice {

// The sum of a column over some rows of a burst, eight at a time and without a branch. Each value
// is below 2^27, as the length of a frame is, so the sum of a burst has room in 32 bits.
[[nodiscard, gnu::always_inline]] inline std::uint64_t sum_of_rows(
    RowMask rows, const std::array<std::uint32_t, kMaxBurst>& column) noexcept {
    static_assert(kMaxBurst == 32);
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i sum = _mm256_setzero_si256();
    for (std::size_t at = 0; at < kMaxBurst; at += 8) {
        const __m256i eight = _mm256_set1_epi32(static_cast<int>(rows >> at));
        const __m256i chosen = _mm256_cmpeq_epi32(_mm256_and_si256(eight, bits), bits);
        const auto* values = reinterpret_cast<const __m256i*>(column.data() + at);
        sum = _mm256_add_epi32(sum, _mm256_and_si256(chosen, _mm256_loadu_si256(values)));
    }
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4E));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xB1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(half));
}

}  // namespace sluice
