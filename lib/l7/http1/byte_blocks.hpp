#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_classes.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

// 32 bytes of a text at once, with AVX2. A mask has a bit for each of them, the first byte lowest.
namespace sluice::http1 {

using Block = __m256i;
inline constexpr std::size_t kBlock = 32;

// Bytes behind the end of the text are not read; zeroes stand for them.
[[nodiscard]] inline Block load_block(ByteView text, std::size_t at) noexcept {
    if (at + kBlock <= text.size()) [[likely]] {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at));
    }
    alignas(kBlock) std::array<std::byte, kBlock> bytes{};
    if (at < text.size()) {
        std::memcpy(bytes.data(), text.data() + at, text.size() - at);
    }
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes.data()));
}
// The bits of a block at `at` that stand for bytes of the text.
[[nodiscard]] inline std::uint32_t bits_within(ByteView text, std::size_t at) noexcept {
    const std::size_t left = text.size() - at;
    return left >= kBlock ? ~std::uint32_t{0} : (std::uint32_t{1} << left) - 1;
}

[[nodiscard]] inline std::uint32_t mask_of(Block where) noexcept {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(where));
}
[[nodiscard]] inline std::uint32_t equal_mask(Block block, char byte) noexcept {
    return mask_of(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(byte)));
}
[[nodiscard]] inline std::uint32_t at_most_mask(Block block, char most) noexcept {
    return mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(most)), block));
}
[[nodiscard]] inline std::uint32_t high_mask(Block block) noexcept {
    return mask_of(block);
}

// Bytes of tokens by their two halves: of each low half, a bit for every high half it goes with.
inline constexpr auto kTokenHalves = [] {
    std::array<std::uint8_t, 16> halves{};
    for (unsigned byte = 0; byte < 128; ++byte) {
        if ((kByteClasses[byte] & kToken) != 0) {
            halves[byte & 0xFU] |= static_cast<std::uint8_t>(1U << (byte >> 4));
        }
    }
    return halves;
}();

[[nodiscard]] inline std::uint32_t token_mask(Block block) noexcept {
    const Block low_halves = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(kTokenHalves.data())));
    const Block high_bits = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0));
    const Block half = _mm256_set1_epi8(0x0F);
    // A shuffle makes zero of what has its highest bit set, so high bytes are no token's.
    const Block goes_with = _mm256_shuffle_epi8(low_halves, block);
    const Block high = _mm256_and_si256(_mm256_srli_epi16(block, 4), half);
    const Block both = _mm256_and_si256(goes_with, _mm256_shuffle_epi8(high_bits, high));
    return ~mask_of(_mm256_cmpeq_epi8(both, _mm256_setzero_si256()));
}

// Where the first byte from `at` on stands that `mask(block)` has a bit for, zeroes behind the end
// aside; the text's size if there is none.
template <typename Mask>
[[nodiscard]] std::size_t find_byte(ByteView text, std::size_t at, Mask&& mask) noexcept {
    for (; at < text.size(); at += kBlock) {
        const std::uint32_t found = mask(load_block(text, at)) & bits_within(text, at);
        if (found != 0) {
            return at + static_cast<std::size_t>(std::countr_zero(found));
        }
    }
    return text.size();
}
[[nodiscard]] inline std::size_t find_byte(ByteView text, std::size_t at, char byte) noexcept {
    return find_byte(text, at, [byte](Block block) { return equal_mask(block, byte); });
}
// Where the token that begins at `at` ends.
[[nodiscard]] inline std::size_t find_token_end(ByteView text, std::size_t at) noexcept {
    return find_byte(text, at, [](Block block) { return ~token_mask(block); });
}

}  // namespace sluice::http1
