#pragma once
#include "lib/l7/http1/byte_blocks.hpp"

#include <cstddef>
#include <cstdint>

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
    // Controls, those of line ends and HTAB among them, and bytes beyond ASCII.
    [[nodiscard]] std::uint64_t not_printable() const noexcept {
        return joined(not_printable_mask(low), not_printable_mask(high));
    }
    [[nodiscard]] std::uint64_t beyond_ascii() const noexcept {
        return joined(high_mask(low), high_mask(high));
    }

private:
    [[nodiscard]] static std::uint64_t joined(std::uint32_t first, std::uint32_t second) noexcept {
        return std::uint64_t{second} << kBlock | first;
    }
    [[nodiscard]] static std::uint32_t not_printable_mask(Block block) noexcept {
        // With one added, 0x7F and what is beyond it are negative, but for 0xFF, which is zero.
        const Block next = _mm256_add_epi8(block, _mm256_set1_epi8(1));
        return mask_of(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x21), next));
    }
};

[[nodiscard]] inline WideBlock load_wide(const std::byte* from) noexcept {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + kBlock))};
}

// Calls visit(wide, shift, bits) for the bytes of `text` at `at`, up to 64 of them: `wide` has
// them. A mask of `wide`, shifted right by `shift` and cut to `bits`, is the mask of these bytes.
// No byte beyond the text is read.
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
    const ReadableText whole{text};
    visit(WideBlock{whole.load(at), left > kBlock ? whole.load(at + kBlock) : Block{}}, 0U, bits);
}

// The line ends of a head, word by word: where lines begin, and where the first empty one ends.
class LineEnds {
public:
    // `is_line`: the first word begins a line. An empty line is one behind another line's end.
    explicit LineEnds(bool is_line) noexcept : line_(is_line ? 1 : 0) {}

    // The next word's LF and CR. What comes back are the bytes behind a CR.
    std::uint64_t add(std::uint64_t lf, std::uint64_t cr) noexcept {
        const std::uint64_t lines = lf << 1 | line_;
        const std::uint64_t behind_cr = cr << 1 | cr_;
        const std::uint64_t first_crs = cr & lines;
        empty_ = lf & (lines | first_crs << 1 | first_cr_);
        line_ = lf >> (kWord - 1);
        cr_ = cr >> (kWord - 1);
        first_cr_ = first_crs >> (kWord - 1);
        return behind_cr;
    }
    // The last bytes of empty lines.
    [[nodiscard]] std::uint64_t empty_lines() const noexcept { return empty_; }

private:
    std::uint64_t empty_ = 0;
    // The last byte, as ones or zeroes: it ends a line, is a CR, and is one that begins a line.
    std::uint64_t line_;
    std::uint64_t cr_ = 0;
    std::uint64_t first_cr_ = 0;
};

}  // namespace sluice::http1
