#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/check.hpp"
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

// A text, and the bytes around it that may be read: of a part of a head, the head. What is loaded
// beyond the text is never looked at.
class ReadableText {
public:
    // Implicit on purpose: of any text, its own bytes may be read.
    ReadableText(ByteView text) noexcept
        : text_{text}, begin_{text.data()}, end_{text.data() + text.size()} {}

    [[nodiscard]] ByteView bytes() const noexcept { return text_; }
    [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
    // `part` lies within the bytes around this text, or is absent.
    [[nodiscard]] ReadableText with(ByteView part) const noexcept {
        SLUICE_CHECK(part.data() == nullptr ||
                     (part.data() >= begin_ && part.data() + part.size() <= end_));
        return part.data() == nullptr ? ReadableText{part} : ReadableText{part, begin_, end_};
    }

    // Bytes from `at` on, up to the text's size; those behind it are any.
    [[nodiscard]] Block load(std::size_t at) const noexcept {
        const std::byte* const from = text_.data() + at;
        const auto left = static_cast<std::size_t>(end_ - from);
        return left >= kBlock ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))
                              : load_last(left);
    }
    // The bits of a block at `at` that stand for bytes of the text.
    [[nodiscard]] std::uint32_t bits_within(std::size_t at) const noexcept {
        const std::size_t left = text_.size() - at;
        return left >= kBlock ? ~std::uint32_t{0} : (std::uint32_t{1} << left) - 1;
    }

private:
    ReadableText(ByteView text, const std::byte* begin, const std::byte* end) noexcept
        : text_{text}, begin_{begin}, end_{end} {}

    // The last bytes of all, fewer than a block, zeroes behind them.
    [[nodiscard]] Block load_last(std::size_t left) const noexcept {
        if (static_cast<std::size_t>(end_ - begin_) < kHalf) {
            alignas(kBlock) std::array<std::byte, kBlock> bytes{};
            if (left != 0) {
                std::memcpy(bytes.data(), end_ - left, left);
            }
            return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes.data()));
        }
        const __m128i last = load_half(end_ - kHalf);
        return left >= kHalf
                   ? _mm256_set_m128i(without_first(last, kBlock - left), load_half(end_ - left))
                   : _mm256_zextsi128_si256(without_first(last, kHalf - left));
    }
    [[nodiscard]] static __m128i load_half(const std::byte* from) noexcept {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    }
    // Without its first `count` bytes, at most all of them; zeroes behind the rest.
    [[nodiscard]] static __m128i without_first(__m128i half, std::size_t count) noexcept {
        // A place beyond the half is a zero.
        static constexpr auto kPlaces = [] {
            std::array<std::int8_t, 2 * kHalf> places{};
            for (std::size_t i = 0; i < places.size(); ++i) {
                places[i] = i < kHalf ? static_cast<std::int8_t>(i) : std::int8_t{-1};
            }
            return places;
        }();
        return _mm_shuffle_epi8(
            half, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kPlaces.data() + count)));
    }

    static constexpr std::size_t kHalf = kBlock / 2;

    ByteView text_;
    const std::byte* begin_;  // of the bytes that may be read
    const std::byte* end_;
};

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

[[nodiscard]] inline std::uint32_t small_letter_mask(Block block) noexcept {
    const Block from_a = _mm256_sub_epi8(block, _mm256_set1_epi8('a'));
    return at_most_mask(from_a, 'z' - 'a');
}
// Letters in lower case.
[[nodiscard]] inline Block lower_block(Block block) noexcept {
    const Block from_a = _mm256_sub_epi8(block, _mm256_set1_epi8('A'));
    const Block last = _mm256_set1_epi8('Z' - 'A');
    const Block is_upper = _mm256_cmpeq_epi8(_mm256_min_epu8(from_a, last), from_a);
    return _mm256_or_si256(block, _mm256_and_si256(is_upper, _mm256_set1_epi8(0x20)));
}
// The first `size` bytes, zeroes behind them.
[[nodiscard]] inline Block first_bytes(Block block, std::size_t size) noexcept {
    alignas(kBlock) static constexpr auto kPlaces = [] {
        std::array<std::int8_t, kBlock> places{};
        for (std::size_t i = 0; i < kBlock; ++i) {
            places[i] = static_cast<std::int8_t>(i);
        }
        return places;
    }();
    const Block places = _mm256_load_si256(reinterpret_cast<const __m256i*>(kPlaces.data()));
    const auto end = static_cast<char>(size < kBlock ? size : kBlock);
    return _mm256_and_si256(block, _mm256_cmpgt_epi8(_mm256_set1_epi8(end), places));
}

// The place of the first byte from `at` on that `mask(block)` has a bit for; the text's size if
// there is none.
template <typename Mask>
[[nodiscard]] std::size_t find_byte(const ReadableText& text, std::size_t at,
                                    Mask&& mask) noexcept {
    for (; at < text.size(); at += kBlock) {
        const std::uint32_t found = mask(text.load(at)) & text.bits_within(at);
        if (found != 0) {
            return at + static_cast<std::size_t>(std::countr_zero(found));
        }
    }
    return text.size();
}
[[nodiscard]] inline std::size_t find_byte(const ReadableText& text, std::size_t at,
                                           char byte) noexcept {
    return find_byte(text, at, [byte](Block block) { return equal_mask(block, byte); });
}
// Behind the last such byte; 0: there is none.
[[nodiscard]] inline std::size_t behind_last(const ReadableText& text, char byte) noexcept {
    std::size_t behind = 0;
    for (std::size_t at = 0; at < text.size(); at += kBlock) {
        const std::uint32_t found = equal_mask(text.load(at), byte) & text.bits_within(at);
        behind = found != 0 ? at + static_cast<std::size_t>(std::bit_width(found)) : behind;
    }
    return behind;
}
// The end of the token that begins at `at`.
[[nodiscard]] inline std::size_t find_token_end(const ReadableText& text, std::size_t at) noexcept {
    return find_byte(text, at, [](Block block) { return ~token_mask(block); });
}

}  // namespace sluice::http1
