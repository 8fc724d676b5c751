#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <immintrin.h>

// Arithmetic on one 32-bit word of each of eight frames at once, with AVX2. A condition is a word
// of all ones where it holds, and of zeroes where it does not.
namespace sluice::eight_words {

// In the order of rows.
using Words = __m256i;
inline constexpr std::size_t kGroup = 8;

[[nodiscard]] inline Words all(std::uint32_t value) noexcept {
    return _mm256_set1_epi32(static_cast<int>(value));
}
[[nodiscard]] inline Words both(Words a, Words b) noexcept {
    return _mm256_and_si256(a, b);
}
[[nodiscard]] inline Words either(Words a, Words b) noexcept {
    return _mm256_or_si256(a, b);
}
[[nodiscard]] inline Words is_equal(Words a, Words b) noexcept {
    return _mm256_cmpeq_epi32(a, b);
}
[[nodiscard]] inline Words differs(Words a, Words b) noexcept {
    return _mm256_xor_si256(is_equal(a, b), all(0xFFFF'FFFF));
}
// Unsigned.
[[nodiscard]] inline Words at_most(Words a, Words b) noexcept {
    return _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a);
}
// One compare for both ends: what is below the least wraps round.
[[nodiscard]] inline Words in_range(Words value, Words least, Words most) noexcept {
    return at_most(_mm256_sub_epi32(value, least), _mm256_sub_epi32(most, least));
}
[[nodiscard]] inline Words choose(Words where, Words yes, Words no) noexcept {
    return _mm256_blendv_epi8(no, yes, where);
}
[[nodiscard]] inline std::uint32_t mask_of(Words where) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(where)));
}
[[nodiscard]] inline bool any(Words where) noexcept {
    return _mm256_testz_si256(where, where) == 0;
}
[[nodiscard]] inline Words from_big_endian(Words words) noexcept {
    return _mm256_shuffle_epi8(words, _mm256_broadcastsi128_si256(_mm_setr_epi8(
                                          3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)));
}

using Starts = std::array<const std::byte*, kGroup>;

[[nodiscard]] inline Words load_two(const std::byte* low, const std::byte* high) noexcept {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
}

// Sixteen bytes of each frame, as four words in network order.
struct FourWords {
    Words word[4];
};
[[nodiscard]] inline FourWords transpose(const Starts& from, std::size_t at) noexcept {
    const Words row04 = load_two(from[0] + at, from[4] + at);
    const Words row15 = load_two(from[1] + at, from[5] + at);
    const Words row26 = load_two(from[2] + at, from[6] + at);
    const Words row37 = load_two(from[3] + at, from[7] + at);
    const Words low01 = _mm256_unpacklo_epi32(row04, row15);
    const Words low23 = _mm256_unpacklo_epi32(row26, row37);
    const Words high01 = _mm256_unpackhi_epi32(row04, row15);
    const Words high23 = _mm256_unpackhi_epi32(row26, row37);
    return {{_mm256_unpacklo_epi64(low01, low23), _mm256_unpackhi_epi64(low01, low23),
             _mm256_unpacklo_epi64(high01, high23), _mm256_unpackhi_epi64(high01, high23)}};
}

inline void store(std::uint32_t* to, Words words) noexcept {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), words);
}
// Each word fits 16 bits.
inline void store(std::uint16_t* to, Words words) noexcept {
    _mm_store_si128(
        reinterpret_cast<__m128i*>(to),
        _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}
// Each word fits 8 bits.
inline void store(std::uint8_t* to, Words words) noexcept {
    const __m128i halves =
        _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
}

}  // namespace sluice::eight_words
