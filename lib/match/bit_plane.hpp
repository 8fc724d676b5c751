#pragma once
#include "lib/match/block_pool.hpp"
#include "lib/match/classifier_parts.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// The rows of a dimension, or of several small ones multiplied out, so that a packet has one row to
// look at where it had several (the cross-producting of Gupta and McKeown, SIGCOMM 1999, kept to
// fields of few rows). Multiplied out, row a of the one and row b of the other are row
// a * (rows of the other) + b.
class BitPlane {
public:
    // What a row of a dimension counts for in a row of the plane.
    struct Factor {
        std::uint32_t dimension = 0;
        std::uint32_t stride = 1;
    };

    // Of one dimension; `blocks` are those its references mean.
    BitPlane(std::uint32_t dimension, const DimensionParts& parts, std::span<const Block> blocks,
             BlockPool& pool);
    // The product of two, over the same clauses.
    BitPlane(const BitPlane& left, const BitPlane& right, BlockPool& pool);

    [[nodiscard]] std::size_t rows() const noexcept { return rows_.size() / used_.size(); }
    [[nodiscard]] std::span<const Factor> factors() const noexcept { return factors_; }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return rows_.size() * sizeof(RowWord) + references_.size() * sizeof(std::uint32_t);
    }

    // Whether any clause of a block asks this.
    [[nodiscard]] bool asks(std::size_t block) const noexcept {
        return ((used_[block / 64] >> (block % 64)) & 1) != 0;
    }
    // The blocks of one word of the summary in which a row may satisfy a clause.
    [[nodiscard]] std::uint64_t open(std::uint32_t row, std::size_t word) const noexcept {
        return rows_[row * used_.size() + word].open;
    }
    // Says where the bits of an open block that asks() stand in the pool.
    [[nodiscard]] const std::uint32_t* reference(std::uint32_t row,
                                                 std::size_t block) const noexcept {
        const std::size_t word = block / 64;
        const RowWord& of = rows_[row * used_.size() + word];
        const std::uint64_t below = (std::uint64_t{1} << (block % 64)) - 1;
        const auto before = std::popcount(of.open & used_[word] & below);
        return &references_[of.first + static_cast<unsigned>(before)];
    }

private:
    // The part of a row that belongs to one word of the summary.
    struct RowWord {
        std::uint64_t open = 0;   // blocks that may match, unused ones among them
        std::uint32_t first = 0;  // its first reference
    };

    void add_product(const BitPlane& left, std::uint32_t left_row, const BitPlane& right,
                     std::uint32_t right_row, BlockPool& pool);

    std::vector<Factor> factors_;
    std::vector<std::uint64_t> used_;  // by word of the summary: the blocks that ask
    std::vector<RowWord> rows_;        // by row, by word of the summary
    std::vector<std::uint32_t> references_;
};

}  // namespace sluice
