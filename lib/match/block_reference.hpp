#pragma once
#include "lib/match/classifier_parts.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The place of a block in a pool, and which of its eight words are not zero: so that zero words are
// left out of an AND unread.
class BlockReference {
public:
    static constexpr std::size_t kMostBlocks = std::size_t{1} << 24;

    BlockReference() = default;  // of nothing, once it is written
    BlockReference(std::uint32_t at, const Block& block) noexcept : bits_{at << kWords} {
        for (unsigned word = 0; word < block.words.size(); ++word) {
            bits_ |= (block.words[word] != 0 ? 1U : 0U) << word;
        }
    }

    // Yields itself if `holds` has all bits; if it has none, `other`, which is zero otherwise.
    [[nodiscard]] BlockReference or_else(BlockReference other, std::uint32_t holds) const noexcept {
        BlockReference one;
        one.bits_ = (bits_ & holds) | other.bits_;
        return one;
    }
    [[nodiscard]] std::uint32_t at() const noexcept { return bits_ >> kWords; }
    // A bit for each word.
    [[nodiscard]] std::uint32_t words() const noexcept { return bits_ & ((1U << kWords) - 1); }

private:
    static constexpr unsigned kWords = kBlockBits / 64;
    static_assert(kWords == 8, "a byte of them");

    // Arrays of them are written, then read.
    std::uint32_t bits_;
};

}  // namespace sluice
