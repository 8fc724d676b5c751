#pragma once
#include "lib/l7/http1/byte_blocks.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// 64 bytes of a text as masks of 64 bits, the first byte lowest. Bytes beyond the text are in none.
namespace sluice::http1 {

inline constexpr std::size_t kWord = 64;

// Two blocks side by side.
struct WideBlock {
    Block low;
    Block high;

    [[nodiscard]] std::uint64_t equal(char byte) const noexcept {
        return joined(equal_mask(low, byte), equal_mask(high, byte));
    }
    [[nodiscard]] std::uint64_t token() const noexcept {
        return joined(token_mask(low), token_mask(high));
    }
    // Controls, those of line ends and HTAB among them.
    [[nodiscard]] std::uint64_t control() const noexcept {
        return joined(control_mask(low), control_mask(high));
    }
    [[nodiscard]] std::uint64_t beyond_ascii() const noexcept {
        return joined(high_mask(low), high_mask(high));
    }

private:
    [[nodiscard]] static std::uint64_t joined(std::uint32_t first, std::uint32_t second) noexcept {
        return std::uint64_t{second} << kBlock | first;
    }
    [[nodiscard]] static std::uint32_t control_mask(Block block) noexcept {
        const Block low = _mm256_cmpeq_epi8(_mm256_min_epu8(block, _mm256_set1_epi8(0x1F)), block);
        return mask_of(_mm256_or_si256(low, _mm256_cmpeq_epi8(block, _mm256_set1_epi8(0x7F))));
    }
};

[[nodiscard]] inline WideBlock load_wide(const std::byte* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + kBlock))};
}

// Calls visit(wide, shift, bits) for the bytes of `text` at `at`, up to 64 of them: `wide` has
// them, and a mask of it says of them what is left when it is shifted right by `shift` and cut to
// `bits`. No byte beyond the text is read.
template <typename Visit>
void visit_word(ByteView text, std::size_t at, Visit&& visit) noexcept {
    const std::size_t left = text.size() - at;
    if (left >= kWord) [[likely]] {
        visit(load_wide(text.data() + at), 0U, ~std::uint64_t{0});
        return;
    }
    const std::uint64_t bits = (std::uint64_t{1} << left) - 1;
    if (text.size() >= kWord) {
        visit(load_wide(text.data() + text.size() - kWord), static_cast<unsigned>(kWord - left),
              bits);
        return;
    }
    alignas(kBlock) std::array<std::byte, kWord> copy{};
    std::memcpy(copy.data(), text.data() + at, left);
    visit(load_wide(copy.data()), 0U, bits);
}

// The line ends of a head, word by word: where lines begin, and where the first empty one ends.
class LineEnds {
public:
    // `is_line`: the first word begins a line. An empty line is one behind another line's end.
    explicit LineEnds(bool is_line) noexcept : starts_(is_line ? 1 : 0) {}

    // Of the next word.
    void add(std::uint64_t lf, std::uint64_t cr) noexcept {
        lines_ = lf << 1 | starts_;
        const std::uint64_t first_crs = cr & lines_;
        empty_ = lf & (lines_ | first_crs << 1 | first_cr_);
        starts_ = lf >> (kWord - 1);
        first_cr_ = first_crs >> (kWord - 1);
    }
    // The bytes that begin a line.
    [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }
    // The last bytes of empty lines.
    [[nodiscard]] std::uint64_t empty_lines() const noexcept { return empty_; }

private:
    std::uint64_t lines_ = 0;
    std::uint64_t empty_ = 0;
    std::uint64_t starts_;        // 1: the next word begins a line
    std::uint64_t first_cr_ = 0;  // 1: the last word's last byte is a CR that begins a line
};

}  // namespace sluice::http1
