#pragma once
#include "lib/packet/row_mask.hpp"

#include <immintrin.h>

namespace sluice {

// A byte of all ones for each row of the set, of zeroes for each other one.
[[nodiscard]] inline __m256i bytes_of_rows(RowMask rows) noexcept {
    static_assert(kMaxBurst == 32, "a byte for each row");
    const __m256i byte_of_row =
        _mm256_setr_epi64x(0, 0x0101'0101'0101'0101, 0x0202'0202'0202'0202, 0x0303'0303'0303'0303);
    const __m256i bit_of_row = _mm256_set1_epi64x(static_cast<long long>(0x8040'2010'0804'0201));
    const __m256i all = _mm256_set1_epi32(static_cast<int>(rows));
    const __m256i bits = _mm256_and_si256(_mm256_shuffle_epi8(all, byte_of_row), bit_of_row);
    return _mm256_cmpeq_epi8(bits, bit_of_row);
}

}  // namespace sluice
