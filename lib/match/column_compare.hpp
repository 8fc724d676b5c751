#pragma once
#include "lib/packet/row_mask.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

// Comparing a whole column, 32 numbers side by side, with ranges: AVX2, one compare for both ends
// of a range, since what is below the first wraps round. Columns are aligned to 32 bytes.
namespace sluice {

// first, first + 1 .. first + span.
struct ColumnRange {
    std::uint64_t first = 0;
    std::uint64_t span = 0;

    [[nodiscard]] constexpr bool operator==(const ColumnRange&) const noexcept = default;
};
using ColumnRanges = std::span<const ColumnRange>;

namespace column_compare {

[[nodiscard]] inline __m256i load(const void* column, std::size_t number) noexcept {
    return _mm256_load_si256(static_cast<const __m256i*>(column) + number);
}
[[nodiscard]] inline RowMask bytes_mask(__m256i bytes) noexcept {
    return static_cast<RowMask>(_mm256_movemask_epi8(bytes));
}
// One bit for each of 32 words of 16 bits, of which each is all ones or zero.
[[nodiscard]] inline RowMask words_mask(__m256i low, __m256i high) noexcept {
    return bytes_mask(_mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xD8));
}

}  // namespace column_compare

[[nodiscard]] inline RowMask rows_in(const std::uint8_t* column, ColumnRanges ranges) noexcept {
    const __m256i numbers = column_compare::load(column, 0);
    __m256i inside = _mm256_setzero_si256();
    for (const ColumnRange& range : ranges) {
        const __m256i above =
            _mm256_sub_epi8(numbers, _mm256_set1_epi8(static_cast<char>(range.first)));
        const __m256i span = _mm256_set1_epi8(static_cast<char>(range.span));
        inside = _mm256_or_si256(inside, _mm256_cmpeq_epi8(_mm256_min_epu8(above, span), above));
    }
    return column_compare::bytes_mask(inside);
}

[[nodiscard]] inline RowMask rows_in(const std::uint16_t* column, ColumnRanges ranges) noexcept {
    const __m256i low = column_compare::load(column, 0);
    const __m256i high = column_compare::load(column, 1);
    __m256i low_inside = _mm256_setzero_si256();
    __m256i high_inside = low_inside;
    for (const ColumnRange& range : ranges) {
        const __m256i first = _mm256_set1_epi16(static_cast<short>(range.first));
        const __m256i span = _mm256_set1_epi16(static_cast<short>(range.span));
        const __m256i low_above = _mm256_sub_epi16(low, first);
        const __m256i high_above = _mm256_sub_epi16(high, first);
        low_inside = _mm256_or_si256(
            low_inside, _mm256_cmpeq_epi16(_mm256_min_epu16(low_above, span), low_above));
        high_inside = _mm256_or_si256(
            high_inside, _mm256_cmpeq_epi16(_mm256_min_epu16(high_above, span), high_above));
    }
    return column_compare::words_mask(low_inside, high_inside);
}

[[nodiscard]] inline RowMask rows_in(const std::uint32_t* column, ColumnRanges ranges) noexcept {
    constexpr std::size_t kParts = kMaxBurst / 8;
    __m256i inside[kParts] = {};
    for (const ColumnRange& range : ranges) {
        const __m256i first = _mm256_set1_epi32(static_cast<int>(range.first));
        const __m256i span = _mm256_set1_epi32(static_cast<int>(range.span));
        for (std::size_t i = 0; i < kParts; ++i) {
            const __m256i above = _mm256_sub_epi32(column_compare::load(column, i), first);
            inside[i] = _mm256_or_si256(inside[i],
                                        _mm256_cmpeq_epi32(_mm256_min_epu32(above, span), above));
        }
    }
    return column_compare::words_mask(
        _mm256_permute4x64_epi64(_mm256_packs_epi32(inside[0], inside[1]), 0xD8),
        _mm256_permute4x64_epi64(_mm256_packs_epi32(inside[2], inside[3]), 0xD8));
}

[[nodiscard]] inline RowMask rows_in(const std::uint64_t* column, ColumnRanges ranges) noexcept {
    constexpr std::size_t kPerPart = 4;
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);  // makes a signed compare an unsigned one
    RowMask rows = 0;
    for (std::size_t i = 0; i < kMaxBurst / kPerPart; ++i) {
        const __m256i numbers = column_compare::load(column, i);
        __m256i inside = _mm256_setzero_si256();
        for (const ColumnRange& range : ranges) {
            const __m256i above =
                _mm256_sub_epi64(numbers, _mm256_set1_epi64x(static_cast<long long>(range.first)));
            const __m256i span = _mm256_set1_epi64x(static_cast<long long>(range.span));
            const __m256i outside =
                _mm256_cmpgt_epi64(_mm256_xor_si256(above, sign), _mm256_xor_si256(span, sign));
            inside = _mm256_or_si256(inside, _mm256_cmpeq_epi64(outside, _mm256_setzero_si256()));
        }
        rows |= static_cast<RowMask>(_mm256_movemask_pd(_mm256_castsi256_pd(inside)))
                << (i * kPerPart);
    }
    return rows;
}

// Rows in which any of `bits` is set.
[[nodiscard]] inline RowMask rows_with_bits(const std::uint16_t* column,
                                            std::uint16_t bits) noexcept {
    const __m256i wanted = _mm256_set1_epi16(static_cast<short>(bits));
    const auto is_clear = [&](std::size_t part) {
        return _mm256_cmpeq_epi16(_mm256_and_si256(column_compare::load(column, part), wanted),
                                  _mm256_setzero_si256());
    };
    return ~column_compare::words_mask(is_clear(0), is_clear(1));
}

}  // namespace sluice
